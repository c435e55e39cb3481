/**
 * The text of AWDIT's own tests: operations `r KEY VALUE` and `w KEY VALUE` a line each, a line of `-` between transactions and of `=` between
 * sessions. lassemoldrup/AWDIT: src/formats.rs, `parse_test_history`.
 *
 * AWDIT writes the initial state out as a session of one transaction that only writes 0, and then misses stale reads of it. Such a session is
 * the initial state here. A transaction of zeros that has company in its session is a transaction like any other.
 */
import { InputError } from '../../base/index.ts';
import { CompactHistoryBuilder } from '../compact-builder.ts';
import type { CompactHistory } from '../compact-history.ts';
import { type HistoryFormat, type HistorySource, onlySource } from './format.ts';
import { exactInteger, headOf, linesOf, shown } from './source-text.ts';

export const awditFormat: HistoryFormat = {
  name: 'awdit',
  extensions: ['.awdit'],
  // A file without any such line is notation as well as this: then the user has to say which.
  detect: (firstBytes) => {
    const head = headOf(firstBytes);
    return /^(?:[rw] -?\d+ -?\d+\s*\n)+\s*(?:--+|==+)\s*(?:\n|$)/.test(head) || /^==+\s*\n\s*[rw] \d/.test(head);
  },
  marksEnd: () => false,
  read: (sources) => readAwdit(onlySource('awdit', sources)),
};

interface Operation {
  readonly isWrite: boolean;
  readonly key: string;
  readonly value: number | string;
}

interface Transaction {
  /** Where it begins. */
  readonly line: number;
  readonly operations: Operation[];
}

async function readAwdit(source: HistorySource): Promise<CompactHistory> {
  const sessions = new Sessions();
  for await (const { first, lines } of linesOf(source)) {
    for (const [i, raw] of lines.entries()) {
      const line = raw.trim();
      if (line === '') continue;
      if (/^-+$/.test(line)) sessions.endTransaction();
      else if (/^=+$/.test(line)) sessions.endSession();
      else sessions.operation(operationOf(line, first + i), first + i);
    }
  }
  return sessions.finish();
}

/** Adds transactions as they end; only the first of a session waits until it is known whether it stands alone. */
class Sessions {
  readonly #builder = new CompactHistoryBuilder();
  #session = 0;
  #added = 0;
  #held: Transaction | null = null;
  #open: Transaction | null = null;

  operation(operation: Operation, line: number): void {
    this.#open ??= { line, operations: [] };
    this.#open.operations.push(operation);
  }

  endTransaction(): void {
    const ended = this.#open;
    this.#open = null;
    if (ended === null) return;
    if (this.#added === 0 && this.#held === null && isOnlyZeros(ended)) this.#held = ended;
    else {
      this.#addHeld();
      this.#add(ended);
    }
  }

  endSession(): void {
    this.endTransaction();
    for (const { key } of this.#held?.operations ?? []) this.#builder.initial(key, 0);
    this.#held = null;
    if (this.#added > 0) [this.#session, this.#added] = [this.#session + 1, 0];
  }

  finish(): CompactHistory {
    this.endSession();
    return this.#builder.finish();
  }

  #addHeld(): void {
    const held = this.#held;
    this.#held = null;
    if (held !== null) this.#add(held);
  }

  #add({ line, operations }: Transaction): void {
    addOperations(this.#builder, operations);
    this.#builder.endTransaction(this.#builder.session(String(this.#session)), { line });
    this.#added += 1;
  }
}

function operationOf(text: string, line: number): Operation {
  const [, kind, key, value] = /^([rw])\s+(-?\d+)\s+(-?\d+)$/.exec(text) ?? [];
  if (key !== undefined && value !== undefined) return { isWrite: kind === 'w', key, value: exactInteger(value) };
  throw new InputError('history/syntax', `${shown(text)} stands where r KEY VALUE, w KEY VALUE, --- or === should`, {
    line,
  });
}

function isOnlyZeros({ operations }: Transaction): boolean {
  return operations.every(({ isWrite, value }) => isWrite && value === 0);
}

function addOperations(builder: CompactHistoryBuilder, operations: readonly Operation[]): void {
  for (const { isWrite, key, value } of operations) {
    const k = builder.key(key);
    if (isWrite) builder.write(k, builder.value(k, value));
    else builder.read(k, builder.value(k, value));
  }
}
