/** A short program against a real server, and what a recorder must have seen of it. */
export interface Line {
  readonly op: string;
  readonly session: string;
  readonly transaction?: string;
  readonly reads?: readonly (readonly [string, unknown])[];
  readonly writes?: readonly (readonly [string, unknown])[];
  readonly unknown?: readonly (readonly [string, readonly string[]])[];
  readonly predicates?: readonly unknown[];
  readonly lock?: string;
  readonly failed?: boolean;
  readonly code?: string;
  readonly opaque?: string;
  readonly start: number;
  readonly end: number | null;
}

export function linesOf(text: string): Line[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('{"moirai"'))
    .map((line) => JSON.parse(line) as Line);
}

/** Without what differs from run to run; sessions and transactions are told apart by the caller. */
export function withoutTimes({
  start: _start,
  end: _end,
  session: _session,
  transaction: _transaction,
  ...rest
}: Line): object {
  return rest;
}

/** What the shop has done after its table was made anew; a table that was there before is written to by DROP. */
export function shopLines(lines: readonly Line[]): object[] {
  return lines.slice(lines.findIndex(({ writes }) => writes !== undefined)).map(withoutTimes);
}

/** `run` takes SQL with `?`, and values. */
export type Runner = (sql: string, ...values: readonly unknown[]) => Promise<unknown>;

const table = 'CREATE TABLE items (id int PRIMARY KEY, name varchar(20), price numeric(9, 2), seen bigint)';

/** The failing statement stands alone: in a transaction the engines differ. */
export async function runShop(run: Runner): Promise<void> {
  await run('DROP TABLE IF EXISTS items');
  await run(table);
  await run(
    'INSERT INTO items VALUES (?, ?, ?, ?), (2, NULL, 7, 0)',
    1,
    'tea',
    '2.50',
    9_007_199_254_740_993n.toString(),
  );
  await run('BEGIN');
  await run('SELECT name, price FROM items WHERE id = ?', 1);
  await run('UPDATE items SET price = price + 1, name = ? WHERE id = ?', 'cup', 1);
  await run('SELECT * FROM items WHERE id = ? FOR UPDATE', 1);
  await run('COMMIT');
  await run('SELECT id FROM items WHERE id IN (?, ?) ORDER BY id', 2, 3);
  await run('INSERT INTO items VALUES (1, NULL, NULL, NULL)').catch(() => {});
  await run('BEGIN');
  await run('DELETE FROM items WHERE id = ?', 2);
  await run('ROLLBACK');
  await run('SELECT id, seen FROM items WHERE seen >= ? AND seen < ?', 0, 10);
}

export function expectedOf(code: string): object[] {
  const row = { id: 1, name: 'cup', price: '3.5', seen: '9007199254740993' };
  return [
    {
      op: 'write',
      writes: [
        ['items/1', { id: 1, name: 'tea', price: '2.5', seen: '9007199254740993' }],
        ['items/2', { id: 2, name: null, price: '7', seen: 0 }],
      ],
    },
    { op: 'commit' },
    { op: 'begin' },
    { op: 'read', reads: [['items/1', { name: 'tea', price: '2.5' }]] },
    { op: 'write', writes: [['items/1', { name: 'cup' }]], unknown: [['items/1', ['price']]] },
    { op: 'read', reads: [['items/1', row]], lock: 'update' },
    { op: 'commit' },
    {
      op: 'read',
      reads: [
        ['items/2', { id: 2 }],
        ['items/3', null],
      ],
    },
    { op: 'commit' },
    { op: 'write', failed: true, code },
    { op: 'abort' },
    { op: 'begin' },
    { op: 'write', writes: [['items/2', null]] },
    { op: 'abort' },
    {
      op: 'read',
      reads: [['items/2', { id: 2, seen: 0 }]],
      predicates: [
        {
          table: 'items',
          where: [
            ['seen', '>=', 0],
            ['seen', '<', 10],
          ],
        },
      ],
    },
    { op: 'commit' },
    { op: 'end' },
  ];
}
