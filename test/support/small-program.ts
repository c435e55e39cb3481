/**
 * Small programs as papers write them: sessions between `||`, transactions between `;`, `[..]` for more than one operation, `rx` reads x,
 * `wx` writes a fresh value, `wx=1` that value, `x+` increments x. All values start as 0.
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
  const steps = operations.map((operation): SmallTransaction => {
    const match =
      /^(?:r(?<read>[xyz])|w(?<write>[xyz])(?:=(?<value>-?\d+))?|(?<increment>[xyz])\+|(?<abort>abort))$/.exec(
        operation,
      );
    if (match?.groups === undefined) throw new Error(`cannot parse ${operation}`);
    const { read, write, value, increment } = match.groups;
    const written = value === undefined ? fresh() : Number(value);
    if (read !== undefined) return async (t) => void (await t.read(read));
    if (write !== undefined) return (t) => t.write(write, written);
    if (increment !== undefined) return async (t) => t.write(increment, (await t.read<number>(increment)) + 1);
    return async (t) => t.abort();
  });
  return async (t) => {
    for (const step of steps) await step(t);
  };
}

const operation = fc.constantFrom('rx', 'ry', 'rz', 'wx', 'wy', 'wz', 'x+', 'y+');
const transaction = fc
  .tuple(fc.array(operation, { minLength: 1, maxLength: 3 }), fc.boolean(), fc.integer({ min: 0, max: 9 }))
  .map(([operations, , abort]) => `[${[...operations, ...(abort === 0 ? ['abort'] : [])].join(' ')}]`);
/** Up to 4 transactions, and up to 6 reads, so that brute force ends. */
export const smallText = fc
  .array(
    fc.array(transaction, { minLength: 1, maxLength: 2 }).map((session) => session.join(';')),
    { minLength: 2, maxLength: 3 },
  )
  .map((sessions) => sessions.join(' || '))
  .filter((text) => text.split(/;|\|\|/).length <= 4 && [...text.matchAll(/r[xyz]|[xyz]\+/g)].length <= 6);
