/**
 * Rows by a number that they hold, in order of it: a list of short sorted runs, so that a row comes and goes without moving all others.
 * Cost: O(log n + length of a run + number of runs / length of a run) for a change, O(log n + found) for a range.
 */

/** A run is cut in two where it is full. */
const runMax = 256;

interface Run {
  readonly values: Float64Array;
  readonly rows: Int32Array;
  size: number;
}

export class SortedRows {
  /** At least one; none is empty but the only one. */
  readonly #runs: Run[] = [newRun()];

  /** Does nothing where the row is there with this value. */
  add(value: number, row: number): void {
    let at = this.#runOf(value, row);
    let run = this.#runs[at];
    if (run.size === runMax) {
      this.#cut(at);
      at = this.#runOf(value, row);
      run = this.#runs[at];
    }
    const place = placeIn(run, value, row);
    if (isAt(run, place, value, row)) return;
    run.values.copyWithin(place + 1, place, run.size);
    run.rows.copyWithin(place + 1, place, run.size);
    run.values[place] = value;
    run.rows[place] = row;
    run.size += 1;
  }

  /** Does nothing where the row is not there with this value. */
  remove(value: number, row: number): void {
    const at = this.#runOf(value, row);
    const run = this.#runs[at];
    const place = placeIn(run, value, row);
    if (!isAt(run, place, value, row)) return;
    run.values.copyWithin(place, place + 1, run.size);
    run.rows.copyWithin(place, place + 1, run.size);
    run.size -= 1;
    const next = this.#runs[at + 1];
    if (next !== undefined && run.size + next.size <= runMax / 2) {
      run.values.set(next.values.subarray(0, next.size), run.size);
      run.rows.set(next.rows.subarray(0, next.size), run.size);
      run.size += next.size;
      this.#runs.splice(at + 1, 1);
    } else if (run.size === 0 && this.#runs.length > 1) this.#runs.splice(at, 1);
  }

  /** How many rows hold a number in `[low, high]`; whole runs count without a look into them, and from `most` on it may say less. */
  count(low: number, high: number, most: number): number {
    if (low > high) return 0;
    let count = 0;
    for (let at = this.#runOf(low, -1); at < this.#runs.length && count < most; at += 1) {
      const run = this.#runs[at];
      if (run.size > 0 && run.values[0] > high) break;
      const isWhole = run.values[0] >= low && run.values[run.size - 1] <= high;
      count += isWhole ? run.size : placeIn(run, high, Infinity) - placeIn(run, low, -1);
    }
    return count;
  }

  /** The rows that hold a number in `[low, high]`, in order of these. */
  between(low: number, high: number): number[] {
    const found: number[] = [];
    let at = this.#runOf(low, -1);
    let place = placeIn(this.#runs[at], low, -1);
    for (; at < this.#runs.length; at += 1) {
      const { values, rows, size } = this.#runs[at];
      for (; place < size; place += 1) {
        if (values[place] > high) return found;
        found.push(rows[place]);
      }
      place = 0;
    }
    return found;
  }

  /** The last run that begins no later than the pair, or the first one. */
  #runOf(value: number, row: number): number {
    let [low, high] = [0, this.#runs.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      const { values, rows } = this.#runs[middle];
      const first = values[0];
      if (first < value || (first === value && rows[0] <= row)) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #cut(at: number): void {
    const run = this.#runs[at];
    const half = runMax / 2;
    const second = newRun();
    second.values.set(run.values.subarray(half));
    second.rows.set(run.rows.subarray(half));
    second.size = runMax - half;
    run.size = half;
    this.#runs.splice(at + 1, 0, second);
  }
}

function newRun(): Run {
  return { values: new Float64Array(runMax), rows: new Int32Array(runMax), size: 0 };
}

/** Where the pair is or would be. */
function placeIn({ values, rows, size }: Run, value: number, row: number): number {
  let [low, high] = [0, size];
  while (low < high) {
    const middle = (low + high) >> 1;
    const known = values[middle];
    if (known < value || (known === value && rows[middle] < row)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isAt({ values, rows, size }: Run, place: number, value: number, row: number): boolean {
  return place < size && values[place] === value && rows[place] === row;
}
