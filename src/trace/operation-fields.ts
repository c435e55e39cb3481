/** What a line of a trace may say of an operation: the one description for the reader (`line.ts`), the scanner of `verify` and docs/verify.md. */
import type { LineFields } from '../history/index.ts';
import { operationKinds } from './trace.ts';

export const operationFields = {
  session: { kind: 'text', isRequired: true, meaning: 'the connection' },
  transaction: { kind: 'text', meaning: 'its name; of every operation but `end`' },
  op: {
    kind: operationKinds,
    isRequired: true,
    code: 'operation',
    meaning: 'what it did; `end`: the session is over',
  },
  savepoint: { kind: 'text', meaning: 'its name, of `savepoint`, `rollback-to` and `release`' },
  reads: {
    kind: 'list',
    meaning:
      'rows as `[KEY, VALUE]`; a value is a scalar, a map of columns (some of them will do), or `null`: there is no such row',
  },
  writes: { kind: 'list', meaning: 'rows, of a `write`' },
  unknown: { kind: 'list', meaning: '`[KEY, [COLUMN, ...]]`: columns of written rows whose new values are not known' },
  predicates: {
    kind: 'list',
    meaning:
      'of a read: `{"table": "accounts", "where": [["balance", ">", 0]]}`, rows `accounts/...` that it should have returned',
  },
  lock: { kind: ['update', 'share', null], meaning: 'of a locking read' },
  opaque: { kind: ['reads', 'writes'], meaning: 'it may have read, or written, rows that it does not name' },
  tables: { kind: 'list', meaning: 'names, of `opaque` writes: the tables of those rows; default all' },
  failed: { kind: 'flag', meaning: 'the database answered with an error; a commit that failed is an abort' },
  code: { kind: 'any', meaning: 'the code of that error' },
  start: {
    kind: 'time',
    isRequired: true,
    code: 'times',
    meaning: 'just before it was sent; of one clock, also beyond 2^53, then perhaps as a string of digits',
  },
  end: {
    kind: 'time or null',
    isRequired: true,
    code: 'times',
    meaning: 'just after its answer came; `null`: none came',
  },
} as const satisfies LineFields;
