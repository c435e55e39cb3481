/**
 * A failing run as a file: everything that a replay needs but the program itself, and what people want to read. JSON, with a checksum of its own
 * text, because a replay of a damaged file would answer for a run that never was.
 */
import { createHash } from 'node:crypto';
import { InputError } from '../base/index.ts';

/** How the run came about, as the options of the tool that replays it. */
export type RecordedOptions =
  | {
      readonly tool: 'test-keys';
      readonly level: string;
      readonly conflicts: 'retry' | 'abort' | null;
      readonly abortRate: number;
    }
  | { readonly tool: 'explore-keys'; readonly level: string; readonly base: string }
  | {
      readonly tool: 'test-sql' | 'explore-sql';
      /** The database: an engine at a level, or a level of the axioms. */
      readonly profile: Readonly<Record<string, string>>;
      readonly abortRate: number;
      readonly seed: number;
    };

export interface FailureRecord {
  readonly versions: { readonly moirai: string; readonly node: string };
  /** The module, from the working directory, and its text when it failed; `null`: it could not be read. */
  readonly program: { readonly file: string; readonly source: string | null };
  readonly options: RecordedOptions;
  /** The choices of the run, as a replay token. */
  readonly token: string;
  /** The text of the program's invariant; `null`: it had none. Older records do not say it. */
  readonly invariant?: string | null;
  /** What was wrong. */
  readonly message: string;
  readonly anomaly: string | null;
  /** Sessions, initial state or schema, level. */
  readonly shape: readonly string[];
  /** What the run did. */
  readonly steps: readonly string[];
}

const format = 1;

/** The same failure has the same name, also if a version kept it whose tokens have no checksum: `cart-3f9a1c.json`. */
export function failureName({ program, options, token }: FailureRecord): string {
  const hash = checksum(JSON.stringify([program.file, options, token.replace(/-[0-9a-z]{7}$/, '')])).slice(0, 6);
  return `${fileStem(program.file)}-${hash}.json`;
}

/** Is it the name of a failure of this program, or of one in another folder with its name? Where the file itself cannot say whose it is. */
export function isNamedAfter(name: string, program: string): boolean {
  const stem = fileStem(program);
  return name.startsWith(`${stem}-`) && /^[0-9a-f]{6}\.json$/.test(name.slice(stem.length + 1));
}

/** As a part of a file's name: without folders, ending and odd characters. */
export function fileStem(file: string): string {
  const stem = /(?<stem>[^/\\]+?)(?:\.[^./\\]+)?$/.exec(file)?.groups?.['stem'] ?? 'program';
  return stem.replaceAll(/[^\w.-]/g, '_');
}

export function formatFailureRecord(record: FailureRecord): string {
  const { versions, program, options, token, invariant, message, anomaly, shape, steps } = record;
  const run = { options, token, ...(invariant === undefined ? {} : { invariant }), message, anomaly, shape, steps };
  const content = { moirai: 'failure', format, versions, program, ...run };
  return `${JSON.stringify({ ...content, sha256: checksum(JSON.stringify(content)) }, null, 2)}\n`;
}

/** @throws InputError `replay/failure-file` with the file, and the line where it is no JSON */
export function parseFailureRecord(text: string, file: string): FailureRecord {
  const found = parseObject(text, file);
  const { sha256, ...content } = found;
  if (content['moirai'] !== 'failure') throw damaged('this is no failure that moirai has kept', file);
  if (content['format'] !== format) {
    const { moirai = 'another version' } = (content['versions'] ?? {}) as { readonly moirai?: string };
    throw damaged(
      `moirai ${moirai} wrote this failure in format ${String(content['format'])}; this one reads ${format}`,
      file,
    );
  }
  if (sha256 !== checksum(JSON.stringify(content)))
    throw damaged('the file was damaged or edited after it was written: its checksum is wrong', file);
  const wrong = fieldOfAnotherShape(content);
  if (wrong !== null)
    throw damaged(`another version wrote this failure: this one cannot read its field "${wrong}"`, file);
  return content as unknown as FailureRecord;
}

type IsOfShape = (value: unknown) => boolean;
const isText: IsOfShape = (value) => typeof value === 'string';
const isNumber: IsOfShape = (value) => typeof value === 'number';
const isTextOrNull: IsOfShape = (value) => value === null || isText(value);
const isTexts: IsOfShape = (value) => Array.isArray(value) && value.every(isText);
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const recordShape: Readonly<Record<string, IsOfShape>> = {
  'versions.moirai': isText,
  'versions.node': isText,
  'program.file': isText,
  'program.source': isTextOrNull,
  token: isText,
  invariant: (value) => value === undefined || isTextOrNull(value),
  message: isText,
  anomaly: isTextOrNull,
  shape: isTexts,
  steps: isTexts,
};
const sqlShape: Readonly<Record<string, IsOfShape>> = {
  'options.profile': (value) => isObject(value) && Object.values(value).every(isText),
  'options.abortRate': isNumber,
  'options.seed': isNumber,
};
const optionShapes: Readonly<Record<RecordedOptions['tool'], Readonly<Record<string, IsOfShape>>>> = {
  'test-keys': {
    'options.level': isText,
    'options.conflicts': (value) => value === 'retry' || value === 'abort' || value === null,
    'options.abortRate': isNumber,
  },
  'explore-keys': { 'options.level': isText, 'options.base': isText },
  'test-sql': sqlShape,
  'explore-sql': sqlShape,
};

/** `null`: the record is a `FailureRecord`. */
function fieldOfAnotherShape(content: Readonly<Record<string, unknown>>): string | null {
  const valueAt = (path: string): unknown =>
    path.split('.').reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), content);
  const tool = valueAt('options.tool');
  if (!isText(tool) || !Object.hasOwn(optionShapes, tool as string)) return 'options.tool';
  const fields = { ...recordShape, ...optionShapes[tool as RecordedOptions['tool']] };
  return Object.keys(fields).find((path) => fields[path]?.(valueAt(path)) === false) ?? null;
}

function parseObject(text: string, file: string): Record<string, unknown> {
  try {
    const found: unknown = JSON.parse(text);
    if (typeof found === 'object' && found !== null) return found as Record<string, unknown>;
  } catch (error) {
    const position = Number(/position (?<at>\d+)/.exec(String(error))?.groups?.['at'] ?? text.length);
    const before = text.slice(0, position).split('\n');
    const place = { line: before.length, column: (before.at(-1) ?? '').length + 1 };
    throw new InputError('replay/failure-file', 'the file was cut or damaged: it is no JSON', { file, ...place });
  }
  throw damaged('this is no failure that moirai has kept', file);
}

function damaged(message: string, file: string): InputError {
  return new InputError('replay/failure-file', message, { file });
}

function checksum(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
