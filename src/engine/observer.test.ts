import { describe, expect, test } from 'vitest';
import type { TableShape } from '../sql/model/storage.ts';
import {
  begin,
  idIs,
  insert,
  lock,
  mysqlTable,
  now,
  remove,
  rowsOf,
  table,
  update,
  withRows,
} from './engine.test-support.ts';
import { innodbStorage } from './innodb/storage.ts';
import type { ObservedVersion, StorageObserver, UndoneWrite } from './observer.ts';
import { postgresStorage } from './postgres/storage.ts';

class Recorder implements StorageObserver {
  readonly isRecording = true;
  readonly told: string[] = [];

  onRead(transaction: number, _table: number, row: number, version: ObservedVersion): void {
    this.told.push(`${transaction} r ${row} ${format(version)}`);
  }

  onWrite(transaction: number, _table: number, row: number, version: ObservedVersion): void {
    this.told.push(`${transaction} w ${row} ${format(version)}`);
  }

  onUnread(transaction: number, _table: number, row: number, sequence: number): void {
    this.told.push(`${transaction} unread ${row} #${sequence}`);
  }

  onUndo(transaction: number, undone: readonly UndoneWrite[]): void {
    for (const { id, sequence } of undone) this.told.push(`${transaction} undo ${id} #${sequence}`);
  }

  onScan(): null {
    return null;
  }

  onEnd(transaction: number, outcome: string): void {
    this.told.push(`${transaction} ${outcome}`);
  }
}

const format = ({ writerTransactionId, sequence, values }: ObservedVersion): string =>
  `${values === null ? 'deleted' : values.map(String).join('/')} by ${writerTransactionId} #${sequence}`;

const add = (row: readonly unknown[]): number[] => [Number(row[0]), Number(row[1]), Number(row[2]) + 1];

describe.each<[string, typeof postgresStorage | typeof innodbStorage, TableShape]>([
  ['postgres', postgresStorage, table],
  ['innodb', innodbStorage, mysqlTable],
])('%s tells an observer', (_name, make, shape) => {
  const observed = () => {
    const recorder = new Recorder();
    const storage = withRows(make({ observer: recorder }), [[1, 10, 100]], shape);
    return { recorder, storage };
  };

  test('what is written, and by whom what is read was written', () => {
    const { recorder, storage } = observed();
    expect(recorder.told.splice(0)).toEqual(['1 w 1 1/10/100 by 1 #1', '1 committed']);
    const a = begin(storage);
    rowsOf(a.statement(), idIs(1));
    now(update(a, idIs(1), add));
    now(lock(a, idIs(1), 'share'));
    now(remove(a, idIs(1)));
    now(a.commit());
    expect(recorder.told).toEqual([
      '2 r 1 1/10/100 by 1 #1',
      '2 r 1 1/10/100 by 1 #1',
      '2 w 1 1/10/101 by 2 #2',
      '2 r 1 1/10/101 by 2 #2',
      '2 r 1 1/10/101 by 2 #2',
      '2 w 1 deleted by 2 #3',
      '2 committed',
    ]);
  });

  test('of an insertion that was refused the row that was in the way, and no write', () => {
    const { recorder, storage } = observed();
    recorder.told.length = 0;
    const a = begin(storage);
    expect(now(insert(a, 1, 20, 0)).kind).toBe('duplicate');
    expect(now(insert(a, 2, 10, 0)).kind).toBe('duplicate');
    a.rollback();
    const read = '2 r 1 1/10/100 by 1 #1';
    expect(recorder.told.filter((line) => !line.includes('undo'))).toEqual([read, read, '2 aborted']);
  });
});

describe.each<[string, typeof postgresStorage | typeof innodbStorage, TableShape]>([
  ['postgres', postgresStorage, table],
  ['innodb', innodbStorage, mysqlTable],
])('tables change: %s', (_name, make, shape) => {
  test('new columns are filled, new indexes are used, open transactions can still go back', () => {
    const storage = withRows(make(), [[1, 10, 100]], { ...shape, indexes: shape.indexes.slice(0, 1) });
    const a = begin(storage);
    now(update(a, idIs(1), add));
    storage.alterTable({ ...shape, columns: [...shape.columns, 'w'] }, (values) => [...values, 0]);
    expect(rowsOf(a.statement(), { kind: 'index', index: 12, prefix: [101], isDescending: false })).toEqual([
      [1, 10, 101, 0],
    ]);
    a.rollback();
    expect(rowsOf(begin(storage).statement())).toEqual([[1, 10, 100, 0]]);
  });

  test('an index that would not be unique is refused and changes nothing', () => {
    const rows = [
      [1, 10, 100],
      [2, 10, 200],
    ];
    const storage = withRows(make(), rows, { ...shape, indexes: shape.indexes.slice(0, 1) });
    expect(() => storage.alterTable(shape)).toThrow(/t_u_key/);
    expect(rowsOf(begin(storage).statement())).toEqual(rows);
  });
});
