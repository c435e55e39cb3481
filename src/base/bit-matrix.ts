/**
 * Square bit matrices: sets of dense ids, one row each, in one flat Int32Array. Row operations touch `words` = ceil(n / 32) words.
 */
export class BitMatrix {
  /** Ids are below `words * 32`. */
  words: number;
  bits: Int32Array;

  constructor(words: number) {
    this.words = words;
    this.bits = new Int32Array(words * 32 * words);
  }

  get capacity(): number {
    return this.words * 32;
  }

  has(row: number, column: number): boolean {
    return ((this.bits[row * this.words + (column >>> 5)] as number) & (1 << (column & 31))) !== 0;
  }

  add(row: number, column: number): void {
    this.bits[row * this.words + (column >>> 5)]! |= 1 << (column & 31);
  }

  delete(row: number, column: number): void {
    this.bits[row * this.words + (column >>> 5)]! &= ~(1 << (column & 31));
  }

  /** row |= other's row */
  union(row: number, other: BitMatrix, otherRow: number): void {
    const { words } = this;
    for (let w = 0; w < words; w += 1) this.bits[row * words + w]! |= other.bits[otherRow * words + w] as number;
  }

  intersects(row: number, other: BitMatrix, otherRow: number): boolean {
    const { words } = this;
    for (let w = 0; w < words; w += 1) {
      if (((this.bits[row * words + w] as number) & (other.bits[otherRow * words + w] as number)) !== 0) return true;
    }
    return false;
  }

  copyRow(row: number, other: BitMatrix, otherRow: number): void {
    const { words } = this;
    for (let w = 0; w < words; w += 1) this.bits[row * words + w] = other.bits[otherRow * words + w] as number;
  }

  clearRow(row: number): void {
    this.bits.fill(0, row * this.words, (row + 1) * this.words);
  }

  /** Copies the first `rows` rows of a matrix of the same capacity. */
  copyFrom(other: BitMatrix, rows: number): void {
    const length = rows * this.words;
    // Below some forty words a loop beats the call.
    if (length > 40) this.bits.set(other.bits.subarray(0, length));
    else for (let i = 0; i < length; i += 1) this.bits[i] = other.bits[i] as number;
  }

  clear(rows: number): void {
    this.bits.fill(0, 0, rows * this.words);
  }

  /** Doubles the capacity and keeps the contents. */
  grow(): void {
    const { words, bits } = this;
    const wider = new BitMatrix(words * 2);
    for (let row = 0; row < words * 32; row += 1) {
      for (let w = 0; w < words; w += 1) wider.bits[row * words * 2 + w] = bits[row * words + w] as number;
    }
    this.words = wider.words;
    this.bits = wider.bits;
  }
}

/** Calls `visit` for each element of a row, ascending, until it returns false; returns whether all calls returned true. */
export function everyElement(matrix: BitMatrix, row: number, visit: (column: number) => boolean): boolean {
  const { words, bits } = matrix;
  for (let w = 0; w < words; w += 1) {
    for (let left = bits[row * words + w] as number; left !== 0; left &= left - 1) {
      if (!visit(w * 32 + 31 - Math.clz32(left & -left))) return false;
    }
  }
  return true;
}
