def neighbors(p, labels):
    return []


linkage = diana = ncfs = neighbors
