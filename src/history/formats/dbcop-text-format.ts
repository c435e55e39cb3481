/** The text of dbcop 0.2 (`.hist`): `[x:=1 y==2]`, with a line of `-` between sessions. rnbguy/dbcop: docs/history-format.md, "Grammar". */
import { InputError } from '../../base/index.ts';
import { CompactHistoryBuilder } from '../compact-builder.ts';
import type { CompactHistory } from '../compact-history.ts';
import { type HistoryFormat, type HistorySource, onlySource } from './format.ts';
import { exactInteger, headOf, linesOf, shown } from './source-text.ts';

export const dbcopTextFormat: HistoryFormat = {
  name: 'dbcop-hist',
  extensions: ['.hist'],
  detect: (firstBytes) => /^(?:\/\/[^\n]*\n\s*|-+\s*\n\s*)*\[\s*(?:[A-Za-z_]\w*(?::=|==)|\])/.test(headOf(firstBytes)),
  marksEnd: () => false,
  read: (sources) => readHist(onlySource('dbcop-hist', sources)),
};

async function readHist(source: HistorySource): Promise<CompactHistory> {
  const builder = new CompactHistoryBuilder();
  let session = 0;
  for await (const { first, lines } of linesOf(source)) {
    for (const [i, raw] of lines.entries()) {
      const text = raw.replace(/\/\/.*$/, '').trim();
      if (/^-+$/.test(text)) session += 1;
      else readLine(text, builder, String(session), first + i);
    }
  }
  return builder.finish();
}

/** The transactions of a line. */
function readLine(text: string, builder: CompactHistoryBuilder, session: string, line: number): void {
  const transaction = /\s*\[([^[\]]*)\](!?)\s*/y;
  for (let at = 0; at < text.length; at = transaction.lastIndex) {
    transaction.lastIndex = at;
    const found = transaction.exec(text);
    if (found === null) {
      const isCut = /^\s*\[[^[\]]*$/.test(text.slice(at));
      const message = isCut ? '] is missing' : `${shown(text.slice(at))} stands where a transaction in [ ] should`;
      throw new InputError(isCut ? 'history/truncated' : 'history/syntax', message, { line, column: at + 1 });
    }
    const events = (found[1] ?? '').trim();
    for (const event of events === '' ? [] : events.split(/\s+/)) readEvent(event, builder, line);
    builder.endTransaction(builder.session(session), { status: found[2] === '!' ? 'aborted' : 'committed', line });
  }
}

function readEvent(text: string, builder: CompactHistoryBuilder, line: number): void {
  const [, name, operator, version] = /^([A-Za-z_]\w*)(:=|==)(\d+|\?)$/.exec(text) ?? [];
  if (name === undefined || version === undefined || (operator === ':=' && version === '?'))
    throw new InputError('history/syntax', `${shown(text)} stands where x:=1, x==1 or x==? should`, { line });
  const key = builder.key(name);
  if (operator === ':=') builder.write(key, builder.value(key, exactInteger(version)));
  else builder.read(key, version === '?' ? builder.nullValue(key) : builder.value(key, exactInteger(version)));
}
