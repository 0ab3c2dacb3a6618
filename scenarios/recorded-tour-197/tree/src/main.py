import util

def main():
    print(util.add(1, 2))

if __name__ == "__main__":
    main()
