import { describe, expect, test } from 'vitest';
import { BitMatrix, everyElement } from './bit-matrix.ts';
import { type Chooser, seeded } from './chooser.ts';

describe('a bit matrix does what one set a row does', () => {
  test.each([1, 2, 3])('with rows of %i words', (words) => {
    for (let seed = 0; seed < 5; seed += 1) {
      const pair = new Pair(words);
      const chooser = seeded(seed);
      for (let step = 0; step < 400; step += 1) pair.change(chooser);
      expect(pair.matrix.capacity).toBe(pair.sets.length);
      expect(pair.differences()).toEqual([]);
    }
  });

  test('and keeps its contents when it grows', () => {
    const pair = new Pair(1);
    for (let step = 0; step < 300; step += 1) pair.change(seeded(step));
    for (let size = 64; size <= 256; size *= 2) {
      pair.matrix.grow();
      while (pair.sets.length < size) pair.sets.push(new Set());
      expect(pair.matrix.capacity).toBe(size);
      expect(pair.differences()).toEqual([]);
    }
  });
});

describe('rows', () => {
  test.each([1, 2])('of another matrix of %i words are copied up to a number of rows', (words) => {
    const [source, target] = [new BitMatrix(words), new BitMatrix(words)];
    for (let row = 0; row < source.capacity; row += 1) source.add(row, source.capacity - 1 - row);
    target.add(source.capacity - 1, 5);
    for (const rows of [0, 3, source.capacity - 1]) {
      target.copyFrom(source, rows);
      for (let row = 0; row < rows; row += 1) expect(elements(target, row)).toEqual([source.capacity - 1 - row]);
    }
    expect(elements(target, source.capacity - 1)).toEqual([5]);
  });

  test('are cleared up to a number of rows', () => {
    const matrix = new BitMatrix(1);
    for (const row of [0, 1, 2]) matrix.add(row, 31);
    matrix.clear(2);
    expect([0, 1, 2].map((row) => elements(matrix, row))).toEqual([[], [], [31]]);
  });
});

describe('everyElement', () => {
  const matrix = new BitMatrix(3);
  const row = [0, 1, 31, 32, 63, 64, 95];
  for (const column of row) matrix.add(7, column);

  test('visits a row in ascending order', () => expect(elements(matrix, 7)).toEqual(row));

  test('stops at the first refusal', () => {
    const visited: number[] = [];
    expect(everyElement(matrix, 7, (column) => visited.push(column) < 3)).toBe(false);
    expect(visited).toEqual([0, 1, 31]);
    expect(everyElement(matrix, 0, () => false)).toBe(true);
  });
});

/** A matrix and the sets that it should be. */
class Pair {
  readonly matrix: BitMatrix;
  readonly sets: Set<number>[];

  constructor(words: number) {
    this.matrix = new BitMatrix(words);
    this.sets = Array.from({ length: words * 32 }, () => new Set<number>());
  }

  change(chooser: Chooser): void {
    const { matrix, sets } = this;
    const size = sets.length;
    const [row, other] = [chooser.choose(size), chooser.choose(size)];
    const [set, otherSet] = [sets[row] as Set<number>, sets[other] as Set<number>];
    switch (chooser.choose(8)) {
      case 0:
        matrix.union(row, matrix, other);
        otherSet.forEach((column) => set.add(column));
        break;
      case 1:
        matrix.copyRow(row, matrix, other);
        sets[row] = new Set(otherSet);
        break;
      case 2:
        matrix.clearRow(row);
        set.clear();
        break;
      case 3:
        matrix.delete(row, other);
        set.delete(other);
        break;
      default:
        matrix.add(row, other);
        set.add(other);
    }
  }

  differences(): string[] {
    return this.sets.flatMap((set, row) => {
      const other = (row * 7 + 3) % this.sets.length;
      const otherSet = this.sets[other] as Set<number>;
      const same =
        elements(this.matrix, row).join() === [...set].toSorted((a, b) => a - b).join() &&
        this.sets.every((_, column) => this.matrix.has(row, column) === set.has(column)) &&
        this.matrix.intersects(row, this.matrix, other) === [...set].some((column) => otherSet.has(column));
      return same ? [] : [`row ${row}: ${elements(this.matrix, row).join(' ')}; by sets ${[...set].join(' ')}`];
    });
  }
}

function elements(matrix: BitMatrix, row: number): number[] {
  const found: number[] = [];
  everyElement(matrix, row, (column) => found.push(column) > 0);
  return found;
}
