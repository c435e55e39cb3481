/** A part of a history, without copying it: fewer transactions, and of their reads those that saw one of them or the initial state. */
import { type CompactHistory, INITIAL, statusCode, type TransactionIndex } from '../../history/index.ts';
import type { Reads } from '../reads.ts';

/** Whatever commit order the whole had, the part has it too. What is of unknown fate counts while another reads from it. Linear. */
export function partOf(history: CompactHistory, reads: Reads, transactions: Iterable<TransactionIndex>): Reads {
  const { transactionCount } = history;
  const isTaken = new Uint8Array(transactionCount);
  for (const t of transactions) isTaken[t] = reads.isMember[t];
  const isMember = membersOf(history, reads, isTaken);
  const readStart = new Int32Array(transactionCount + 1);
  const count = reads.readStart[transactionCount];
  const [readKey, readFrom, readOperation] = [new Int32Array(count), new Int32Array(count), new Int32Array(count)];
  let next = 0;
  for (let t = 0; t < transactionCount; t += 1) {
    readStart[t] = next;
    if (isMember[t] === 0) continue;
    for (let i = reads.readStart[t]; i < reads.readStart[t + 1]; i += 1) {
      const from = reads.readFrom[i];
      if (from !== INITIAL && isMember[from] === 0) continue;
      readKey[next] = reads.readKey[i];
      readFrom[next] = from;
      readOperation[next] = reads.readOperation[i];
      next += 1;
    }
  }
  readStart[transactionCount] = next;
  return { ...reads, isMember, readStart, readKey, readFrom, readOperation };
}

function membersOf({ status, transactionCount }: CompactHistory, reads: Reads, isTaken: Uint8Array): Uint8Array {
  const isMember = new Uint8Array(transactionCount);
  const found: TransactionIndex[] = [];
  for (let t = 0; t < transactionCount; t += 1) {
    if (isTaken[t] === 0 || status[t] === statusCode.unknown) continue;
    isMember[t] = 1;
    found.push(t);
  }
  for (let t = found.pop(); t !== undefined; t = found.pop()) {
    for (let i = reads.readStart[t]; i < reads.readStart[t + 1]; i += 1) {
      const from = reads.readFrom[i];
      if (from === INITIAL || isTaken[from] === 0 || isMember[from] === 1) continue;
      isMember[from] = 1;
      found.push(from);
    }
  }
  return isMember;
}
