// What a user's compiler sees: every entry point has types, without the types of Node or of our dependencies.
import * as moirai from 'moirai';
import * as analyze from 'moirai/analyze';
import * as check from 'moirai/check';
import * as explore from 'moirai/explore';
import * as history from 'moirai/history';
import * as isolation from 'moirai/isolation';
import * as mockdb from 'moirai/mockdb';
import * as program from 'moirai/program';
import * as protocol from 'moirai/protocol';
import * as recording from 'moirai/recording';
import * as report from 'moirai/report';
import * as serve from 'moirai/serve';
import * as sql from 'moirai/sql';
import * as states from 'moirai/states';
import * as verify from 'moirai/verify';

export const entryPoints: readonly object[] = [
  moirai,
  analyze,
  check,
  explore,
  history,
  isolation,
  mockdb,
  program,
  protocol,
  recording,
  report,
  serve,
  sql,
  states,
  verify,
];

export const oneWrite: history.History = {
  sessions: ['a'],
  transactions: [
    { id: 'a/0', session: 0, status: 'committed', operations: [{ kind: 'write', key: 'x', value: 1 }] },
    // @ts-expect-error: a status that does not exist; if this compiles, the types have collapsed into `any`.
    { id: 'a/1', session: 0, status: 'lost', operations: [] },
  ],
  initial: new Map(),
};
