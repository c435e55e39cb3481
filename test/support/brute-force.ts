/**
 * The histories of a program by brute force over the definition: transactions run one after another in every order, every read sees any
 * committed write, and what comes out is kept when it has a commit order at its level (MonkeyDB, Fig. 7 and Theorem 4.2, with the
 * transactions of the baseline in commit order).
 */
import { type Chooser, forEveryChoiceAsync } from '../../src/base/index.ts';
import {
  defaultId,
  formatHistory,
  type History,
  INITIAL,
  type Operation,
  type Transaction,
  type Value,
} from '../../src/history/index.ts';
import { type ConstrainingLevel, type IsolationLevel, referenceCheck } from '../../src/isolation/index.ts';
import { enumerating, MockDatabase } from '../../src/mockdb/index.ts';
import { type Program, runProgram, type Store, type StoreTransaction } from '../../src/program/index.ts';

/** Every history of `program` at `level`, as texts, by the definition. */
export async function historiesByDefinition(program: Program, level: ConstrainingLevel): Promise<Set<string>> {
  const seen = new Map<string, boolean>();
  await forEveryChoiceAsync(async (chooser) => {
    const store = new AnyCommittedWrite(program, chooser);
    await runProgram(program, store, { nextSession: (waiting) => choose(chooser, waiting) });
    const history = store.history();
    const text = formatHistory(history);
    if (!seen.has(text)) seen.set(text, isAtLevel(history, level));
  });
  return new Set([...seen].filter(([, is]) => is).map(([text]) => text));
}

/** The fewest transactions after which a session has thrown, in any run, cut off anywhere, that is at its level; `null` where none throws. */
export async function fewestTransactionsOfAnError(program: Program, level: ConstrainingLevel): Promise<number | null> {
  let fewest: number | null = null;
  await forEveryChoiceAsync(async (chooser) => {
    const store = new AnyCommittedWrite(program, chooser);
    const outcome = await runProgram(program, store, {
      nextSession: (waiting) => choose(chooser, [...waiting, null]),
    });
    const { length } = store.history().transactions;
    if (outcome.kind !== 'threw' || (fewest !== null && fewest <= length)) return;
    if (isAtLevel(store.history(), level)) fewest = length;
  });
  return fewest;
}

/** Every history that the mock database gives, as texts. */
export async function historiesOfMockDatabase(
  program: Program,
  level: ConstrainingLevel,
  visit: (history: History, commitOrder: readonly number[]) => void = () => {},
): Promise<Set<string>> {
  const database = new MockDatabase({ level, initial: program.initial, sessionNames: program.sessionNames });
  const texts = new Set<string>();
  await forEveryChoiceAsync(async (chooser) => {
    const decisions = enumerating(chooser);
    database.reset(decisions);
    const { kind } = await runProgram(program, database, { nextSession: decisions.session, conflicts: 'discard' });
    if (kind === 'discarded') return;
    const history = database.history();
    visit(history, database.commitOrder());
    texts.add(formatHistory(history));
  });
  return texts;
}

function isAtLevel(history: History, level: IsolationLevel): boolean {
  const levelOf = (t: number): IsolationLevel =>
    (history.transactions[t]?.level as IsolationLevel | undefined) ?? level;
  return referenceCheck(history, levelOf, { abortedReads: 'constrained' }).kind === 'satisfied';
}

function choose<T>(chooser: Chooser, options: readonly T[]): T {
  return options[options.length === 1 ? 0 : chooser.choose(options.length)] as T;
}

class AnyCommittedWrite implements Store {
  readonly #program: Program;
  readonly #chooser: Chooser;
  readonly #transactions: (Transaction & { operations: Operation[]; status: 'committed' | 'aborted' })[] = [];

  constructor(program: Program, chooser: Chooser) {
    this.#program = program;
    this.#chooser = chooser;
  }

  begin(session: number, level?: IsolationLevel): StoreTransaction {
    const ordinal = this.#transactions.filter((t) => t.session === session).length;
    const id = defaultId(String(session), ordinal);
    const operations: Operation[] = [];
    const index = this.#transactions.length;
    const transaction = {
      id,
      session,
      status: 'aborted' as 'committed' | 'aborted',
      operations,
      ...(level === undefined ? {} : { level }),
    };
    this.#transactions.push(transaction);
    return {
      read: (key) => {
        const own = operations.findLast((o) => o.kind === 'write' && o.key === key);
        if (own !== undefined) {
          operations.push({ kind: 'read', key, value: own.value });
          return own.value;
        }
        const from = choose(this.#chooser, [INITIAL, ...this.#writersOf(key, index)]);
        const value =
          from === INITIAL ? (this.#program.initial.get(key) ?? null) : (this.#lastWrite(from, key) as Value);
        operations.push({ kind: 'read', key, value, from });
        return value;
      },
      write: (key, value) => void operations.push({ kind: 'write', key, value: value as Value }),
      commit: () => {
        transaction.status = 'committed';
        return 'committed';
      },
      abort: () => {},
    };
  }

  history(): History {
    return { sessions: this.#program.sessionNames, transactions: this.#transactions, initial: this.#program.initial };
  }

  #writersOf(key: string, before: number): number[] {
    const isWriter = (t: number): boolean =>
      this.#transactions[t]?.status === 'committed' && this.#lastWrite(t, key) !== undefined;
    return [...this.#transactions.keys()].filter((t) => t < before && isWriter(t));
  }

  #lastWrite(t: number, key: string): Value | undefined {
    return this.#transactions[t]?.operations.findLast((o) => o.kind === 'write' && o.key === key)?.value;
  }
}
