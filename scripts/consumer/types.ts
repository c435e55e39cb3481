// What a user's compiler sees: every entry point has types, without the types of Node or of our dependencies.
import * as moirai from 'moirai';
import * as explore from 'moirai/explore';
import * as history from 'moirai/history';
import * as isolation from 'moirai/isolation';
import * as mockdb from 'moirai/mockdb';
import * as program from 'moirai/program';
import * as protocol from 'moirai/protocol';
import * as states from 'moirai/states';

export const entryPoints: readonly object[] = [moirai, explore, history, isolation, mockdb, program, protocol, states];

export const oneWrite: history.History = {
  sessions: ['a'],
  transactions: [
    { id: 'a/0', session: 0, status: 'committed', operations: [{ kind: 'write', key: 'x', value: 1 }] },
    // @ts-expect-error: a status that does not exist; if this compiles, the types have collapsed into `any`.
    { id: 'a/1', session: 0, status: 'lost', operations: [] },
  ],
  initial: new Map(),
};
