/** What `moirai check` prints: each report when its turn comes, and at the end, or when the user has had enough, all the rest. */
import { isTruncated } from '../../base/index.ts';
import { conclude, conclusionJson, type Evidence, exitCodeOf, noEvidence } from '../../evidence/index.ts';
import type { CompactLevel } from '../../check/index.ts';
import { checkPage } from './check-page.ts';
import { formatCount, formatDot, formatMermaid, formatTable, type ReportData } from '../../report/index.ts';
import {
  type Checked,
  type CheckedFile,
  type CheckFileOptions,
  type CheckHost,
  type HistoryPath,
  notChecked,
} from './check-file.ts';
import type { ExitCode, Ending } from '../host.ts';
import { shellWord } from '../options/invocation.ts';

export interface CheckReportOptions extends CheckFileOptions {
  readonly json: boolean;
  /** Instead of a report: the cycle of each violation. */
  readonly drawing?: 'dot' | 'mermaid' | undefined;
}

/** Of more histories than this, those of which there is nothing to show are in the summary only. */
const fullReportsMax = 10;

interface Printed {
  readonly out: string;
  readonly err: string;
}

export class CheckReports {
  readonly #paths: readonly HistoryPath[];
  readonly #options: CheckReportOptions;
  readonly #host: CheckHost;
  readonly #done: (CheckedFile | undefined)[];
  /** What is known of those that are not done. */
  readonly #underWay = new Map<number, () => Checked>();
  #printed = 0;
  #isFirst = true;
  /** Histories that are done. */
  count = 0;

  constructor(paths: readonly HistoryPath[], options: CheckReportOptions, host: CheckHost) {
    this.#paths = paths;
    this.#options = options;
    this.#host = host;
    this.#done = paths.map(() => undefined);
  }

  begin(index: number, soFar: () => Checked): void {
    this.#underWay.set(index, soFar);
  }

  /** @returns what to print now, in the order of the paths */
  take(index: number, checked: CheckedFile): Printed {
    this.#done[index] = checked;
    this.#underWay.delete(index);
    this.count += 1;
    const parts: Printed[] = [];
    for (let next = this.#done[this.#printed]; next !== undefined; next = this.#done[this.#printed]) {
      parts.push(this.#report(next));
      this.#printed += 1;
    }
    return joined(parts);
  }

  /** Of all histories: what is not done is not known. */
  ending(): Ending {
    const { json, drawing } = this.#options;
    const all = this.#paths.map(
      (path, i) => this.#done[i] ?? this.#underWay.get(i)?.() ?? notChecked(path, this.#options, this.#host),
    );
    const isOne = all.length === 1;
    const begun = all.filter(
      (_, i) => i >= this.#printed && (isOne || this.#done[i] !== undefined || this.#underWay.has(i)),
    );
    const { out, err } = joined(begun.map((file) => this.#report(file)));
    const code = this.#exitCode(all);
    if (drawing !== undefined) return { out: out + drawn(all, drawing), err: err + this.#notDone(), code };
    if (json) {
      const objects = all.map((file) => ({
        ...jsonOf(file, this.#options.level),
        report: this.#pageOf(file),
      }));
      return { out: `${out}${JSON.stringify(isOne ? objects[0] : objects)}\n`, err, code };
    }
    return { out: isOne ? out : `${out}\n${this.#summary(all).join('\n')}\n`, err, code };
  }

  /** For the HTML report. @param paths as they were given */
  page(paths: readonly string[]): ReportData {
    return this.#page(
      this.#done.flatMap((file) => file ?? []),
      checkHeading(paths),
    );
  }

  /** The same, one for each history. */
  pages(): ReportData[] {
    return this.#done.flatMap((file) => (file === undefined ? [] : [this.#pageOf(file)]));
  }

  #pageOf(file: CheckedFile): ReportData {
    return this.#page([file], checkHeading([file.file]));
  }

  #page(all: readonly CheckedFile[], heading: string): ReportData {
    const { level = null } = this.#options;
    const counts = this.#counts(all).map(([answer, count]) => `${answer} ${formatCount(count)}`);
    return checkPage(all, {
      heading,
      level,
      kind: this.#kind(all),
      summary: `${this.#countsHead(all)}: ${counts.join(', ')}`,
      assumed: assumptionLines(all),
    });
  }

  /** What is concluded of the level that was asked for. */
  #kind(all: readonly CheckedFile[]): ReportData['verdict']['kind'] {
    const { level } = this.#options;
    if (level === undefined) return 'described';
    const { kind } = conclude(allOf(all.map((file) => evidenceAt(file, level))));
    return kind === 'at-fault' ? 'unknown' : kind;
  }

  #report(file: CheckedFile): Printed {
    const { json, drawing, level } = this.#options;
    if (json) return nothing;
    if (file.kind === 'refused') return { out: '', err: `${refusal(file)}\n` };
    if (drawing !== undefined) return nothing;
    if (this.#paths.length > fullReportsMax && (level === undefined || file.answers[level]?.kind === 'satisfied'))
      return nothing;
    const out = `${this.#isFirst ? '' : '\n'}${file.text}\n`;
    this.#isFirst = false;
    return { out, err: '' };
  }

  #notDone(): string {
    const { length } = this.#paths;
    if (this.count === length) return '';
    return `interrupted: ${formatCount(this.count)} of ${formatCount(length)} histories were checked\n`;
  }

  /** How many have which answer. */
  #summary(all: readonly CheckedFile[]): string[] {
    const rows = this.#counts(all).map(([answer, count]) => [answer, String(count)]);
    return [this.#countsHead(all), ...formatTable(rows), ...assumptionLines(all)];
  }

  #countsHead(all: readonly CheckedFile[]): string {
    const { level } = this.#options;
    return `${formatCount(all.length)} histories, by ${level === undefined ? 'strongest level' : `answer at ${level}`}`;
  }

  /** The most frequent first. */
  #counts(all: readonly CheckedFile[]): (readonly [answer: string, count: number])[] {
    const { level } = this.#options;
    const counts = new Map<string, number>();
    for (const [i, file] of all.entries()) {
      const answer = this.#done[i] === undefined ? cutAnswer(file, level) : answerOf(file, level);
      counts.set(answer, (counts.get(answer) ?? 0) + 1);
    }
    return [...counts].toSorted(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  }

  /** The worst of all. Without a level that was asked for there is nothing to violate. */
  #exitCode(all: readonly CheckedFile[]): ExitCode {
    const { level } = this.#options;
    if (all.some((file) => file.kind === 'refused' && !isTruncated(file))) return 3;
    if (level === undefined) return this.count === all.length && all.every(isKnown) ? 0 : 2;
    return exitCodeOf(conclude(allOf(all.map((file) => evidenceAt(file, level)))));
  }
}

function checkHeading(paths: readonly string[]): string {
  return `moirai check ${paths.map(shellWord).join(' ')}`;
}

const nothing: Printed = { out: '', err: '' };

function joined(parts: readonly Printed[]): Printed {
  return { out: parts.map(({ out }) => out).join(''), err: parts.map(({ err }) => err).join('') };
}

function isChecked(file: CheckedFile): file is Checked {
  return file.kind === 'checked';
}

/** Was the whole history judged at every level that it can be judged at? */
function isKnown(file: CheckedFile): boolean {
  return (
    isChecked(file) &&
    file.cut === null &&
    Object.values(file.answers).every(({ kind, lacksTimes }) => kind !== 'unknown' || lacksTimes === true)
  );
}

function drawn(all: readonly CheckedFile[], drawing: 'dot' | 'mermaid'): string {
  const drawings = all.flatMap((file) => (file.kind === 'checked' && file.drawing !== null ? [file.drawing] : []));
  return drawing === 'dot' ? formatDot(drawings) : formatMermaid(drawings);
}

type Refused = Extract<CheckedFile, { kind: 'refused' }>;

function refusal({ file, code, message, place }: Refused): string {
  const where = [place?.file ?? file, place?.line, place?.column].filter((part) => part !== undefined).join(':');
  return `${where}: ${message} [${code}]`;
}

function jsonOf(file: CheckedFile, level: CompactLevel | undefined): object {
  if (file.kind === 'checked')
    return level === undefined ? file.json : { ...file.json, ...conclusionJson(conclude(evidenceAt(file, level))) };
  const { code, message, place } = file;
  return { file: file.file, error: { code, message, ...(place?.line === undefined ? {} : { line: place.line }) } };
}

/** Of how many histories what is assumed: most of them may have no report of their own. */
function assumptionLines(all: readonly CheckedFile[]): string[] {
  const counts = new Map<string, number>();
  for (const clause of all.flatMap((file) => (isChecked(file) ? file.assumed : [])))
    counts.set(clause, (counts.get(clause) ?? 0) + 1);
  return [...counts].map(([clause, count]) => `assumed of ${formatCount(count)} of them: ${clause}`);
}

function answerOf(file: CheckedFile, level: CompactLevel | undefined): string {
  if (file.kind === 'refused') return isTruncated(file) ? 'cut' : 'bad input';
  const answer = level === undefined ? file.strongest : file.answers[level]?.kind;
  return answer ?? (file.cut === null ? 'none' : 'cut');
}

/** A violation that was found stays one. */
function cutAnswer(file: CheckedFile, level: CompactLevel | undefined): string {
  const answer = level === undefined ? undefined : answerOf(file, level);
  return answer === 'violated' || answer === 'satisfied' ? answer : 'interrupted';
}

/** What was looked at in one history, where a level was asked for. */
function evidenceAt(checked: CheckedFile, level: CompactLevel): Evidence {
  if (checked.kind === 'refused') return { ...noEvidence, cut: [`${checked.file}: ${checked.message}`] };
  const { file, answers, assumed, cut } = checked;
  const answer = answers[level];
  return {
    ...noEvidence,
    violations: answer?.kind === 'violated' ? 1 : 0,
    cut: [
      ...(cut === null ? [] : [`${file}: ${cut}`]),
      ...(answer?.kind === 'unknown' ? [`${file}: ${answer.text.replace(/^unknown: /, '')}`] : []),
    ],
    assumed,
  };
}

function allOf(evidence: readonly Evidence[]): Evidence {
  return {
    ...noEvidence,
    violations: evidence.reduce((sum, { violations }) => sum + violations, 0),
    cut: evidence.flatMap(({ cut }) => cut),
    assumed: [...new Set(evidence.flatMap(({ assumed }) => assumed))],
  };
}
