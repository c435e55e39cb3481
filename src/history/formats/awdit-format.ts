/**
 * The text of AWDIT's own tests: operations `r KEY VALUE` and `w KEY VALUE` a line each, a line of `-` between transactions and of `=` between
 * sessions. lassemoldrup/AWDIT: src/formats.rs, `parse_test_history`.
 *
 * A transaction that only writes 0 is the initial state: AWDIT itself has it as one more session, and then misses stale reads of it.
 */
import { InputError } from '../../base/input-error.ts';
import { CompactHistoryBuilder } from '../compact-builder.ts';
import type { CompactHistory } from '../compact-history.ts';
import { type HistoryFormat, type HistorySource, onlySource } from './format.ts';
import { exactInteger, headOf, linesOf, shown } from './source-text.ts';

export const awditFormat: HistoryFormat = {
  name: 'awdit',
  extensions: ['.awdit'],
  // A file without any such line is notation as well as this: then somebody has to say it.
  detect: (firstBytes) => {
    const head = headOf(firstBytes);
    return /^(?:[rw] -?\d+ -?\d+\s*\n)+\s*(?:--+|==+)\s*(?:\n|$)/.test(head) || /^==+\s*\n\s*[rw] \d/.test(head);
  },
  read: (sources) => readAwdit(onlySource('awdit', sources)),
};

interface Operation {
  readonly isWrite: boolean;
  readonly key: string;
  readonly value: number | string;
}

async function readAwdit(source: HistorySource): Promise<CompactHistory> {
  const builder = new CompactHistoryBuilder();
  let session = 0;
  let transactions = 0;
  let operations: Operation[] = [];
  let begin = 0;
  const endTransaction = (): void => {
    if (operations.length === 0) return;
    if (!addInitial(builder, operations)) {
      addOperations(builder, operations);
      builder.endTransaction(builder.session(String(session)), { line: begin });
      transactions += 1;
    }
    operations = [];
  };
  for await (const { first, lines } of linesOf(source)) {
    for (const [i, raw] of lines.entries()) {
      const line = raw.trim();
      if (line === '') continue;
      if (/^(?:-+|=+)$/.test(line)) {
        endTransaction();
        if (line.startsWith('=') && transactions > 0) [session, transactions] = [session + 1, 0];
        continue;
      }
      if (operations.length === 0) begin = first + i;
      operations.push(operationOf(line, first + i));
    }
  }
  endTransaction();
  return builder.finish();
}

function operationOf(text: string, line: number): Operation {
  const [, kind, key, value] = /^([rw])\s+(-?\d+)\s+(-?\d+)$/.exec(text) ?? [];
  if (key !== undefined && value !== undefined) return { isWrite: kind === 'w', key, value: exactInteger(value) };
  throw new InputError('history/syntax', `${shown(text)} stands where r KEY VALUE, w KEY VALUE, --- or === should`, {
    line,
  });
}

function addInitial(builder: CompactHistoryBuilder, operations: readonly Operation[]): boolean {
  if (operations.some(({ isWrite, value }) => !isWrite || value !== 0)) return false;
  for (const { key } of operations) builder.initial(key, 0);
  return true;
}

function addOperations(builder: CompactHistoryBuilder, operations: readonly Operation[]): void {
  for (const { isWrite, key, value } of operations) {
    const k = builder.key(key);
    if (isWrite) builder.write(k, builder.value(k, value));
    else builder.read(k, builder.value(k, value));
  }
}
