/** The notation of papers and tests, for histories that people look at: read and written as a whole. Drops times, levels and own names. */
import { InputError } from '../../base/input-error.ts';
import { compactOf, historyOf } from '../compact-convert.ts';
import { orCut } from '../cut-history.ts';
import { formatCount, formatHistory, isCounted, parseHistory, wholeLines } from '../notation.ts';
import { type HistoryFormat, onlySource } from './format.ts';

export const notationFormat: HistoryFormat = {
  name: 'notation',
  extensions: ['.history', '.txt'],
  detect: (firstBytes) => !firstBytes.includes(0),
  marksEnd: (firstBytes) => isCounted(new TextDecoder().decode(firstBytes)),
  read: async (sources) => {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    let text = '';
    try {
      for await (const chunk of onlySource('notation', sources).chunks())
        text += decoder.decode(chunk, { stream: true });
      text += decoder.decode();
    } catch (error) {
      if (error instanceof TypeError) throw new InputError('history/encoding', 'the text is not UTF-8');
      throw error;
    }
    return orCut(
      () => compactOf(parseHistory(text)),
      () => compactOf(parseHistory(wholeLines(text))),
    );
  },
  write: (history) => {
    const text = [formatCount(history.transactionCount), formatHistory(historyOf(history)), ''].join('\n');
    return [new TextEncoder().encode(text)];
  },
};
