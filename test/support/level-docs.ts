/** The parts of docs/levels.md and docs/anomalies.md that are made from the tables of src/isolation. */
import {
  anomalies,
  type Anomaly,
  check,
  explain,
  type IsolationLevel,
  isolationLevels,
} from '../../src/isolation/index.ts';
import { exampleOf } from '../../src/isolation/anomaly.ts';
import { visibleInWords } from '../../src/isolation/definition.ts';

export type Parts = Readonly<Record<string, string>>;

export const levelParts: Parts = {
  axioms: table(
    ['level', 't2 is visible to a read of t3 when'],
    isolationLevels.map((level) => [`\`${level}\``, visibleInWords[level]]),
  ),
  separations: isolationLevels.slice(0, -1).map(separation).join('\n\n'),
};

export const anomalyParts: Parts = {
  overview: table(
    ['anomaly', 'also called', 'forbidden by'],
    Object.entries(anomalies).map(([name, { title, forbiddenBy }]) => [
      `[\`${name}\`](#${name.toLowerCase()})`,
      title.replaceAll('-', ' ') === name.replaceAll('-', ' ') ? '' : title,
      `\`${forbiddenBy}\``,
    ]),
  ),
  catalogue: Object.entries(anomalies)
    .map(([name, anomaly]) => entry(name, anomaly))
    .join('\n\n'),
};

/** The text with each `<!-- part NAME -->` ... `<!-- end -->` filled anew. */
export function filled(text: string, parts: Parts): string {
  return text.replaceAll(
    /(<!-- part (\S+) -->\n)[^]*?(<!-- end -->)/g,
    (_whole, open: string, name: string, end: string) => {
      const part = parts[name];
      if (part === undefined) throw new Error(`no part is called ${name}`);
      return `${open}\n${part}\n\n${end}`;
    },
  );
}

/** The example, of fewest transactions, of an anomaly that the next level is the first to forbid. */
function separation(level: IsolationLevel): string {
  const next = isolationLevels[isolationLevels.indexOf(level) + 1];
  const [name, anomaly] = Object.entries(anomalies)
    .filter(([, { forbiddenBy }]) => forbiddenBy === next)
    .toSorted(([, a], [, b]) => size(a) - size(b))[0] as [string, Anomaly];
  return `**\`${level}\`** allows what \`${next}\` forbids: [${name}](anomalies.md#${name.toLowerCase()})\n\n${fenced(anomaly)}`;
}

function size(anomaly: Anomaly): number {
  const { transactions } = exampleOf(anomaly);
  return transactions.length * 100 + transactions.flatMap(({ operations }) => operations).length;
}

function entry(name: string, anomaly: Anomaly): string {
  const { title, meaning, forbiddenBy, source } = anomaly;
  const history = exampleOf(anomaly);
  const verdict = check(history, forbiddenBy);
  if (verdict.kind !== 'violated') throw new Error(`${name} is not violated by its example`);
  const weaker = isolationLevels[isolationLevels.indexOf(forbiddenBy) - 1];
  return [
    `### ${name}`,
    `**${title}**: ${meaning}. Forbidden by \`${forbiddenBy}\`; \`${weaker}\` allows this one. Source: ${source}.`,
    fenced(anomaly),
    explain(history, verdict)
      .map((line) => `- ${line}`)
      .join('\n'),
  ].join('\n\n');
}

function fenced({ example, times }: Anomaly): string {
  const spans = times?.map(([start, end]) => `from ${start} to ${end}`) ?? [];
  return ['```', example, '```', ...(spans.length === 0 ? [] : ['', `They ran ${spans.join(' and ')}.`])].join('\n');
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
