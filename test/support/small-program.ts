/**
 * Small programs as papers write them: sessions between `||`, transactions between `;`, `[..]` for more than one operation, `rx` reads x,
 * `wx` writes a fresh value, `wx=1` that value, `x+` increments x, `x?` reads x and ends the transaction unless it is 0, `x!` reads x and
 * aborts unless it is 0. All values start as 0.
 */
import fc from 'fast-check';
import type { ConstrainingLevel } from '../../src/isolation/index.ts';
import { type Program, program, type SessionHandle, type TransactionHandle } from '../../src/program/index.ts';

export type SmallTransaction = (t: TransactionHandle) => Promise<void>;

export function smallProgram(text: string, levelOf?: (session: number, index: number) => ConstrainingLevel): Program {
  let fresh = 100;
  const sessions = text
    .split('||')
    .map((session) => session.split(';').map((transaction) => parse(transaction, () => (fresh += 1))));
  return programOf(sessions, levelOf);
}

export function programOf(
  sessions: readonly (readonly SmallTransaction[])[],
  levelOf?: (session: number, index: number) => ConstrainingLevel,
): Program {
  const initial = Object.fromEntries(['x', 'y', 'z'].map((key) => [key, 0]));
  const run = (transactions: readonly SmallTransaction[], s: number) => async (session: SessionHandle) => {
    for (const [i, transaction] of transactions.entries()) {
      await session.transaction(transaction, levelOf === undefined ? {} : { level: levelOf(s, i) });
    }
  };
  return program({
    initial,
    sessions: Object.fromEntries(sessions.map((transactions, s) => [String(s), run(transactions, s)])),
  });
}

function parse(text: string, fresh: () => number): SmallTransaction {
  const operations = text.replaceAll(/[[\]]/g, ' ').trim().split(/\s+/);
  const steps = operations.map((operation) => parseStep(operation, fresh));
  return async (t) => {
    for (const step of steps) if ((await step(t)) === 'end') return;
  };
}

type Step = (t: TransactionHandle) => Promise<'end' | void>;

function parseStep(operation: string, fresh: () => number): Step {
  const match = /^(?:r(?<read>[xyz])|w(?<write>[xyz])(?:=(?<value>-?\d+))?|(?<key>[xyz])(?<how>[+?!])|abort)$/.exec(
    operation,
  );
  if (match?.groups === undefined) throw new Error(`cannot parse ${operation}`);
  const { read, write, value, key, how } = match.groups;
  const written = value === undefined ? fresh() : Number(value);
  if (read !== undefined) return async (t) => void (await t.read(read));
  if (write !== undefined) return (t) => t.write(write, written);
  if (key === undefined) return async (t) => t.abort();
  if (how === '+') return async (t) => t.write(key, (await t.read<number>(key)) + 1);
  return async (t) => {
    if ((await t.read(key)) === 0) return undefined;
    return how === '?' ? 'end' : t.abort();
  };
}

const operation = fc.constantFrom('rx', 'ry', 'rz', 'wx', 'wy', 'wz', 'x+', 'y+', 'x?', 'y!');
const transaction = fc
  .tuple(fc.array(operation, { minLength: 1, maxLength: 3 }), fc.integer({ min: 0, max: 9 }))
  .map(([operations, abort]) => `[${[...operations, ...(abort === 0 ? ['abort'] : [])].join(' ')}]`);

/** Programs with guards, aborts and values that depend on reads; small enough for brute force to end. */
export const smallText = fc
  .array(
    fc.array(transaction, { minLength: 1, maxLength: 3 }).map((session) => session.join(';')),
    { minLength: 2, maxLength: 4 },
  )
  .map((sessions) => sessions.join(' || '))
  .filter(isSmall);

function isSmall(text: string): boolean {
  const transactions = text.split(/;|\|\|/).length;
  const reads = [...text.matchAll(/r[xyz]|[xyz][+?!]/g)].length;
  // Brute force takes every order and every choice of a write for a read.
  return (transactions <= 4 && reads <= 6) || (transactions <= 6 && reads <= 3);
}
