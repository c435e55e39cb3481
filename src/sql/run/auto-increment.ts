/**
 * MySQL's AUTO_INCREMENT. A statement reserves numbers for the rows that it knows of, or 1, 2, 4, ... at a time where it does not (INSERT ...
 * SELECT). A row that its own checks refuse has drawn none; the number of a row that met a duplicate goes to the next row of the statement.
 * What is left over at the end is lost. MySQL 8.0 manual, 17.6.1.6; handler::update_auto_increment.
 */
import { assert } from '../../base/index.ts';
import { SqlError, type TableId, type Waiting, type SqlValue } from '../model/index.ts';
import type { Column, Table } from '../catalog/relation.ts';
import { nextValue } from './next-value.ts';
import { sequenceName } from './sequence-name.ts';
import type { Running } from '../execution.ts';

const reservedMax = 65_535;

interface Reserved {
  readonly numbers: bigint[];
  times: number;
  expected: number | null;
}

export class AutoIncrement {
  readonly column: Column;
  readonly #table: TableId;
  /** The statement does not know how many rows there will be: it takes them from a query, or updates them. */
  isBulk = false;

  constructor(column: Column, table: TableId) {
    this.column = column;
    this.#table = table;
  }

  /** Before a number is drawn. @throws SqlError 40001 (1467), HY000 (1467) */
  *lock({ view }: Running): Waiting<void> {
    try {
      if (view.lockCounter !== undefined) yield* view.lockCounter(this.#table, this.isBulk);
    } catch (error) {
      throw drawError(error);
    }
  }

  /** When a row with a number of its own has been written. @throws SqlError 40001 (1213) */
  *lockLate({ view }: Running): Waiting<void> {
    if (view.lockCounter !== undefined) yield* view.lockCounter(this.#table, this.isBulk);
  }

  /** NULL and 0 ask for a number. */
  isAskedFor(values: readonly SqlValue[]): boolean {
    const value = values[this.column.cell] ?? null;
    return value === null || value === 0 || value === 0n;
  }

  /** How many rows the statement has; once, before the first. */
  expect(rows: number, running: Running): void {
    this.#reserved(running).expected = rows;
  }

  draw(values: SqlValue[], running: Running): void {
    const reserved = this.#reserved(running);
    if (reserved.numbers.length === 0) {
      this.#reserve(reserved.expected ?? Math.min(2 ** reserved.times, reservedMax), running);
      reserved.expected = null;
      reserved.times++;
    }
    const number = reserved.numbers.shift();
    assert(number !== undefined, 'at least one number was reserved');
    values[this.column.cell] =
      this.column.type.name === 'int8' || this.column.type.name === 'uint8' ? number : Number(number);
  }

  giveBack(values: readonly SqlValue[], running: Running): void {
    const number = this.#number(values);
    if (number !== null) this.#reserved(running).numbers.unshift(number);
  }

  /** A larger number than any before moves the counter. */
  countOn(values: readonly SqlValue[], running: Running): void {
    const number = this.#number(values);
    if (this.column.sequence === null || number === null) return;
    const sequence = running.surroundings.sequence(sequenceName(this.column.sequence));
    const { numbers } = this.#reserved(running);
    while (numbers[0] !== undefined && numbers[0] <= number) numbers.shift();
    const isAhead = sequence.isCalled ? number > sequence.last : number >= sequence.last;
    if (isAhead && number <= sequence.options.max) sequence.set(number, true);
  }

  #number(values: readonly SqlValue[]): bigint | null {
    const value = values[this.column.cell] ?? null;
    return typeof value === 'number' || typeof value === 'bigint' ? BigInt(value) : null;
  }

  #reserve(count: number, running: Running): void {
    const { sequence } = this.column;
    assert(sequence !== null, 'an AUTO_INCREMENT column has a sequence');
    const { numbers } = this.#reserved(running);
    for (let i = 0; i < count; i++) numbers.push(nextValue(running, sequenceName(sequence), this.column));
  }

  #reserved(running: Running): Reserved {
    const known = running.kept.get(this) as Reserved | undefined;
    if (known !== undefined) return known;
    const made: Reserved = { numbers: [], times: 0, expected: null };
    running.kept.set(this, made);
    return made;
  }
}

/** The server has one error for a number that it could not draw: of a deadlock's victim, and of a wait that took too long. */
function drawError(error: unknown): unknown {
  if (!(error instanceof SqlError) || (error.code !== '40001' && error.code !== '55P03')) return error;
  const code = error.code === '40001' ? '40001' : 'HY000';
  return new SqlError(code, 'Failed to read auto-increment value from storage engine', { mysqlNumber: 1467 });
}

export function autoIncrementOf({ id, columns }: Table): AutoIncrement | null {
  const column = columns.find(({ identity }) => identity !== null);
  return column === undefined ? null : new AutoIncrement(column, id);
}
