def add(a, b):
    return a + b

def greet(n):
    return "héllo " + n

def sub(a, b):
    return a - b
