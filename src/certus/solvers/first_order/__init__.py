"""First-order solvers on X as given, and their step rules and schedules."""
