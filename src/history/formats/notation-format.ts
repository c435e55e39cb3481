/** The notation of papers and tests, for histories that people look at: read and written as a whole. Drops times, levels and own names. */
import { compactOf, historyOf } from '../compact-convert.ts';
import { decodeLast, orCut } from '../cut-history.ts';
import { withEndLine } from '../end-sum.ts';
import { formatCount, formatHistory, isCounted, parseHistory, wholeLines } from '../notation.ts';
import { type HistoryFormat, onlySource } from './format.ts';

export const notationFormat: HistoryFormat = {
  name: 'notation',
  extensions: ['.history', '.txt'],
  detect: (firstBytes) => !firstBytes.includes(0),
  marksEnd: (firstBytes) => isCounted(new TextDecoder().decode(firstBytes)),
  read: async (sources) => {
    const bytes: Uint8Array[] = [];
    for await (const chunk of onlySource('notation', sources).chunks()) bytes.push(chunk.slice());
    const all = Buffer.concat(bytes);
    return orCut(
      () => compactOf(parseHistory(decodeLast(all, new TextDecoder('utf-8', { fatal: true })))),
      () => compactOf(parseHistory(wholeLines(all.toString('utf8')))),
    );
  },
  write: (history) => {
    const text = [formatCount(history.transactionCount), formatHistory(historyOf(history)), ''].join('\n');
    return [new TextEncoder().encode(withEndLine('notation', text))];
  },
};
