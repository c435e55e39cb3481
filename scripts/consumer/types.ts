// What a user's compiler sees: the entry points have types, without the types of Node or of our dependencies. Those of `node-types.ts` need Node's.
import * as moirai from 'moirai';
import * as check from 'moirai/check';
import * as explore from 'moirai/explore';
import * as history from 'moirai/history';
import * as isolation from 'moirai/isolation';
import * as mockdb from 'moirai/mockdb';
import * as program from 'moirai/program';
import * as protocol from 'moirai/protocol';
import * as recording from 'moirai/recording';
import * as report from 'moirai/report';
import * as states from 'moirai/states';
import * as verify from 'moirai/verify';

export const entryPoints: readonly object[] = [
  moirai,
  check,
  explore,
  history,
  isolation,
  mockdb,
  program,
  protocol,
  recording,
  report,
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
