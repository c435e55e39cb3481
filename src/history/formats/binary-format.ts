/** The binary column form; `binary-history.ts` says what is in it. */
import { BinaryHistoryReader, isBinaryHistory, writeBinaryHistory } from '../binary-history.ts';
import { type HistoryFormat, onlySource } from './format.ts';

export const binaryFormat: HistoryFormat = {
  name: 'binary',
  extensions: ['.moirai'],
  detect: isBinaryHistory,
  marksEnd: () => true,
  read: async (sources) => {
    const reader = new BinaryHistoryReader();
    for await (const chunk of onlySource('binary', sources).chunks()) reader.push(chunk);
    return reader.finish();
  },
  write: writeBinaryHistory,
};
