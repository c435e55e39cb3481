/**
 * The text of Plume, PolySI and IsoVista (AWDIT: `plume`): an operation a line, `r(key,value,session,transaction)`. dracoooooo/Plume:
 * TextHistoryLoader.java; amnore/PolySI: README.md.
 *
 * Value 0 is the initial one of every key. IsoVista writes it out in a session of one transaction of nothing else: that is the initial
 * state and no transaction. A transaction of zeros that has company in its session is a transaction like any other. Transaction -1 is a write of some transaction that aborted. Transactions of a session stand in the order of their first lines.
 */
import { InputError } from '../../base/index.ts';
import type { CompactHistory } from '../compact-history.ts';
import { GatheredTransactions } from './gathered-transactions.ts';
import { type HistoryFormat, type HistorySource, onlySource } from './format.ts';
import { exactInteger, headOf, linesOf, shown } from './source-text.ts';

export const plumeFormat: HistoryFormat = {
  name: 'plume',
  extensions: ['.plume'],
  detect: (firstBytes) => /^[rw]\(-?\d+,/.test(headOf(firstBytes)),
  marksEnd: () => false,
  read: (sources) => readPlume(onlySource('plume', sources)),
};

async function readPlume(source: HistorySource): Promise<CompactHistory> {
  const reader = new PlumeReader();
  for await (const { first, lines } of linesOf(source)) {
    for (let i = 0; i < lines.length; i += 1) reader.line(lines[i] as string, first + i);
  }
  return reader.finish();
}

const operationLine = /^([rw])\((-?\d+),(-?\d+),(-?\d+),(-?\d+)\)$/;

class PlumeReader {
  readonly #gathered = new GatheredTransactions();
  readonly #transactions = new Map<string, { readonly index: number; readonly session: string }>();
  /** By transaction: has it nothing but writes of 0? */
  readonly #onlyZeros: boolean[] = [];
  readonly #sessionOf: number[] = [];
  /** By session: how many transactions it has. */
  readonly #sessionSize: number[] = [];
  readonly #keys = new Map<string, number>();

  line(text: string, line: number): void {
    const parts = operationLine.exec(text);
    if (parts === null) {
      if (text.trim() === '') return;
      throw new InputError('history/syntax', `${shown(text)} stands where an operation such as w(1,2,0,3) should`, {
        line,
      });
    }
    const [, kind, key = '', value = '', session = '', transaction = ''] = parts;
    const isWrite = kind === 'w';
    const t = this.#transaction(transaction, session, isWrite, line);
    const k = this.#key(key);
    const seen = exactInteger(value);
    if (!isWrite || seen !== 0) this.#onlyZeros[t] = false;
    this.#gathered.add(t, isWrite, k, this.#gathered.builder.value(k, seen));
  }

  finish(): CompactHistory {
    return this.#gathered.finish(
      (t) => this.#onlyZeros[t] === true && this.#sessionSize[this.#sessionOf[t] as number] === 1,
    );
  }

  #key(text: string): number {
    const known = this.#keys.get(text);
    if (known !== undefined) return known;
    const { builder } = this.#gathered;
    const key = builder.key(text);
    builder.initial(text, 0);
    this.#keys.set(text, key);
    return key;
  }

  #transaction(name: string, session: string, isWrite: boolean, line: number): number {
    if (name === '-1') {
      if (isWrite) return this.#begin(session, { status: 'aborted', line });
      throw new InputError('history/field', 'transaction -1 is the write of an aborted one: it has no reads', { line });
    }
    const known = this.#transactions.get(name);
    if (known === undefined) {
      const index = this.#begin(session, { id: name, line });
      this.#transactions.set(name, { index, session });
      return index;
    }
    if (known.session === session) return known.index;
    throw new InputError('history/field', `transaction ${name} is in session ${known.session} too`, { line });
  }

  #begin(session: string, details: Parameters<GatheredTransactions['begin']>[1]): number {
    this.#onlyZeros.push(details.status !== 'aborted');
    const index = this.#gathered.builder.session(session);
    this.#sessionOf.push(index);
    this.#sessionSize[index] = (this.#sessionSize[index] ?? 0) + 1;
    return this.#gathered.begin(index, details);
  }
}
