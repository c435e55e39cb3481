/**
 * A history as columns, one for each session, time downwards in the order of `history.transactions`: what a person reads to see who
 * read from whom. Where the columns would become too narrow, the transactions stand below each other in one.
 */
import { INITIAL, type History, type Operation, type TransactionIndex } from '../history/index.ts';
import { displayWidth, padEnd, printable, truncate, wrap } from './display-text.ts';
import { writersSeen } from './writers-seen.ts';
import { plain, type Style, type Styler } from './style.ts';

/** How wide a history is drawn, and which part of it. */
export interface SessionsOptions {
  /** Columns of the terminal. Default 80. */
  readonly width?: number;
  /** Reads, as `transaction operation`, that saw an older write than the newest that they could have seen. */
  readonly older?: ReadonlySet<string>;
  /** Only these transactions. Default: all. */
  readonly only?: ReadonlySet<TransactionIndex>;
  /** Columns that a value may take; the rest of it is cut. Default 40. */
  readonly valueWidthMax?: number;
  readonly style?: Styler;
}

/** Lines without line breaks. */
export function formatSessions(history: History, options: SessionsOptions = {}): string[] {
  const { width = 80, style = plain } = options;
  const items = itemsOf(history, options);
  const shown = [...new Set(items.map(({ session }) => session))].toSorted((a, b) => a - b);
  const layout = columnsFor(shown, items, width) ?? [{ sessions: shown, width }];
  const titles = layout.map((column) =>
    column.sessions.map((s) => printable(history.sessions[s] ?? String(s))).join(', '),
  );
  const lines =
    layout.length === 1
      ? []
      : [
          row(
            layout,
            titles.map((title, i) => truncate(title, (layout[i] as Column).width)),
            'name',
            style,
          ),
        ];
  if (layout.length > 1)
    lines.push(
      row(
        layout,
        layout.map((column) => '='.repeat(column.width)),
        'faint',
        style,
      ),
    );
  for (const item of items) {
    const at = layout.findIndex(({ sessions }) => sessions.includes(item.session));
    for (const line of cellLines(item, (layout[at] as Column).width)) {
      lines.push(
        row(
          layout,
          layout.map((_, i) => (i === at ? line : '')),
          item.style,
          style,
        ),
      );
    }
  }
  return lines;
}

/** A row of the drawing, before it is fitted into its column. */
interface Item {
  readonly session: number;
  readonly text: string;
  /** Stands behind the text, or below it where that is too long. */
  readonly tail: string;
  readonly style: Style | null;
}

interface Column {
  readonly sessions: readonly number[];
  readonly width: number;
}

function itemsOf(history: History, options: SessionsOptions): Item[] {
  const sources = readSourceNames(history);
  return history.transactions.flatMap((transaction, t): Item[] => {
    if (options.only?.has(t) === false) return [];
    const { session, status, level, operations } = transaction;
    const title = `${printable(transaction.id)} ${status}${level === undefined ? '' : ` at ${level}`}`;
    return [
      { session, text: title, tail: '', style: 'faint' },
      ...operations.map((operation, o): Item => {
        const isOlder = options.older?.has(`${t} ${o}`) ?? false;
        const source = sources.get(`${t} ${o}`);
        const tail = source === undefined ? '' : `from ${source}${isOlder ? ' (older)' : ''}`;
        return {
          session,
          text: operationText(operation, options.valueWidthMax ?? 40),
          tail,
          style: isOlder ? 'older' : null,
        };
      }),
    ];
  });
}

function operationText({ kind, key, value }: Operation, valueWidthMax: number): string {
  return `${kind} ${printable(key)} = ${truncate(printable(JSON.stringify(value)), valueWidthMax)}`;
}

/** `transaction operation` of each read to whose write it saw. */
function readSourceNames(history: History): ReadonlyMap<string, string> {
  const nameOf = (from: TransactionIndex | null, place: string): string => {
    if (from === null) return 'no transaction';
    if (from === INITIAL) return 'initial';
    if (place.startsWith(`${from} `)) return 'itself';
    return printable(history.transactions[from]?.id ?? String(from));
  };
  return new Map([...writersSeen(history)].map(([place, from]) => [place, nameOf(from, place)]));
}

const gap = '  ';
/** Narrower columns are harder to read than none. */
const columnWidthMin = 20;

/** As wide as the contents ask, where there is room; else those that ask for more than their share get the same. `null`: too many. */
function columnsFor(sessions: readonly number[], items: readonly Item[], width: number): Column[] | null {
  const wanted = sessions.map((session) =>
    Math.max(0, ...items.filter((item) => item.session === session).map(itemWidth)),
  );
  let left = width - gap.length * (sessions.length - 1);
  const widths = new Map<number, number>();
  [...wanted.keys()]
    .toSorted((a, b) => (wanted[a] as number) - (wanted[b] as number))
    .forEach((column, i) => {
      const share = Math.min(wanted[column] as number, Math.floor(left / (sessions.length - i)));
      widths.set(column, share);
      left -= share;
    });
  const columns = sessions.map((session, i) => ({ sessions: [session], width: widths.get(i) as number }));
  const isReadable = columns.every((column, i) => column.width >= Math.min(wanted[i] as number, columnWidthMin));
  return isReadable ? columns : null;
}

function itemWidth({ text, tail }: Item): number {
  return displayWidth(text) + (tail === '' ? 0 : gap.length + displayWidth(tail));
}

function cellLines(item: Item, width: number): string[] {
  if (item.style === 'faint' && displayWidth(item.text) < width - 1) {
    return [`${item.text} ${'-'.repeat(width - displayWidth(item.text) - 1)}`];
  }
  if (itemWidth(item) <= width) return [item.tail === '' ? item.text : `${item.text}${gap}${item.tail}`];
  return [...wrap(item.text, width), ...(item.tail === '' ? [] : wrap(`  ${item.tail}`, width))];
}

function row(layout: readonly Column[], cells: readonly string[], kind: Style | null, style: Styler): string {
  const last = cells.findLastIndex((cell) => cell !== '');
  const styled = (text: string): string => (kind === null || text === '' ? text : style(kind, text));
  return cells
    .slice(0, last + 1)
    .map(
      (cell, i) =>
        styled(cell) + (i === last ? '' : padEnd(cell, (layout[i] as Column).width).slice(cell.length) + gap),
    )
    .join('');
}
