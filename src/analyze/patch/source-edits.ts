/** Changes of transactions in the text of their source: FOR UPDATE at the end of a SELECT, another level where one is written. */
import type ts from 'typescript';
import type { IsolationName } from '../../sql/index.ts';
import type { Place } from '../application.ts';
import type { Change } from '../changes.ts';
import type { TypeScript } from '../source/load-typescript.ts';

export interface Edits {
  /** The files that change, by path, as they are then: with as many lines as before. */
  readonly files: ReadonlyMap<string, string>;
  readonly refused: readonly { readonly change: Change; readonly reason: string }[];
}

interface Edit {
  readonly file: string;
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * @param files as the reader read them
 * @param placeOf where the transaction of a name begins
 */
export function sourceEdits(
  api: TypeScript,
  files: ReadonlyMap<string, string>,
  changes: readonly Change[],
  placeOf: (transaction: string) => Place | undefined,
): Edits {
  const sources = new Map<string, ts.SourceFile>();
  for (const [name, text] of files)
    if (/\.[cm]?[jt]sx?$/.test(name))
      sources.set(name, api.createSourceFile(name, text, api.ScriptTarget.ESNext, true));
  const editOf = (change: Change): Edit | string => {
    switch (change.kind) {
      case 'lock':
        return lockEdit(api, sources, change);
      case 'level':
        return levelEdit(api, sources, change.level, placeOf(change.transaction));
      case 'around':
        return 'it asks for one connection for all statements of the unit';
    }
  };
  const edits = new Map<string, Edit>();
  const refused: { change: Change; reason: string }[] = [];
  for (const change of changes) {
    const edit = editOf(change);
    if (typeof edit === 'string') refused.push({ change, reason: edit });
    // The decoder's mark for bytes that are none: they would be lost.
    else if (files.get(edit.file)?.includes('\uFFFD') === true)
      refused.push({ change, reason: `${edit.file} is not UTF-8` });
    else edits.set(`${edit.file}:${edit.from}`, edit);
  }
  return { files: applied(files, [...edits.values()]), refused };
}

function applied(files: ReadonlyMap<string, string>, edits: readonly Edit[]): ReadonlyMap<string, string> {
  const changed = new Map<string, string>();
  for (const { file, from, to, text } of edits.toSorted((a, b) => b.from - a.from)) {
    const before = changed.get(file) ?? files.get(file) ?? '';
    changed.set(file, before.slice(0, from) + text + before.slice(to));
  }
  return changed;
}

type Literal = ts.StringLiteralLike | ts.TemplateExpression;

/** In the call at its place or, where that names a constant, in the only text of the sources that is this statement. */
function lockEdit(
  api: TypeScript,
  sources: ReadonlyMap<string, ts.SourceFile>,
  { place, sql, clause }: Extract<Change, { kind: 'lock' }>,
): Edit | string {
  const all = [...sources.values()].flatMap((file) => literalsIn(api, file).filter((one) => isText(api, one, sql)));
  const here = all.filter((one) => one.getSourceFile().fileName === place.file && lineOfCall(api, one) === place.line);
  const [found, ...others] = here.length > 0 ? here : all;
  if (found === undefined) return `the SQL text of ${place.file}:${place.line} is not a plain literal in the source`;
  if (others.length > 0)
    return `${others.length + 1} literals in the source are the SQL text of ${place.file}:${place.line}`;
  const end = found.getEnd() - 1;
  const tail = /\s*;?\s*$/.exec(found.getSourceFile().text.slice(found.getStart() + 1, end));
  const from = end - (tail?.[0].length ?? 0);
  return { file: found.getSourceFile().fileName, from, to: from, text: ` ${clause}` };
}

function literalsIn(api: TypeScript, root: ts.Node): readonly Literal[] {
  const found: Literal[] = [];
  const visit = (node: ts.Node): void => {
    if (api.isStringLiteralLike(node) || api.isTemplateExpression(node)) found.push(node);
    api.forEachChild(node, visit);
  };
  visit(root);
  return found;
}

/** A hole of a template stands for a parameter, or for a text that the reader knows. */
function isText(api: TypeScript, literal: Literal, sql: string): boolean {
  if (!api.isTemplateExpression(literal)) return trimmed(literal.text) === trimmed(sql);
  const parts = [literal.head.text, ...literal.templateSpans.map((span) => span.literal.text)];
  const pattern = parts.map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join(String.raw`[^]+?`);
  return new RegExp(`^${trimmed(pattern)}$`).test(trimmed(sql));
}

function trimmed(text: string): string {
  return text.trim().replace(/;\s*$/, '').trimEnd();
}

/** Of the innermost call or tagged template around it: there a step has its place. */
function lineOfCall(api: TypeScript, node: ts.Node): number | undefined {
  for (let at: ts.Node | undefined = node.parent; at !== undefined; at = at.parent) {
    if (api.isFunctionLike(at)) return undefined;
    if (api.isCallExpression(at) || api.isTaggedTemplateExpression(at))
      return at.getSourceFile().getLineAndCharacterOfPosition(at.getStart()).line + 1;
  }
  return undefined;
}

const writtenLevel = /read[\s_-]?uncommitted|read[\s_-]?committed|repeatable[\s_-]?read|serializable|snapshot/i;
const plainBegin = /^\s*(?:begin|start\s+transaction)(?:\s+(?:work|transaction))?\b/i;

/** Where a level is written: in SQL (`BEGIN ISOLATION LEVEL READ COMMITTED`), in an option of a driver, as the name of a constant. */
function levelEdit(
  api: TypeScript,
  sources: ReadonlyMap<string, ts.SourceFile>,
  level: IsolationName,
  place: Place | undefined,
): Edit | string {
  const file = place === undefined ? undefined : sources.get(place.file);
  if (place === undefined || file === undefined) return 'the transaction is in no file of the source';
  const found = levelWords(api, file).filter((node) => lineOfCall(api, node) === place.line);
  const [node, ...others] = found;
  if (node === undefined || others.length > 0)
    return `no level is written at ${place.file}:${place.line}: raise it by hand`;
  const text = node.getText();
  const written = writtenLevel.exec(text);
  if (written !== null) {
    const from = node.getStart() + written.index;
    return { file: place.file, from, to: from + written[0].length, text: inStyleOf(written[0], level) };
  }
  const begin = plainBegin.exec(text.slice(1));
  const from = node.getStart() + 1 + (begin?.[0].length ?? 0);
  return { file: place.file, from, to: from, text: ` ISOLATION LEVEL ${level.toUpperCase()}` };
}

function levelWords(api: TypeScript, file: ts.SourceFile): readonly ts.Node[] {
  const found: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    const isWord =
      (api.isStringLiteralLike(node) && (writtenLevel.test(node.text) || plainBegin.test(node.text))) ||
      (api.isPropertyAccessExpression(node.parent ?? node) &&
        (node.parent as ts.PropertyAccessExpression).name === node &&
        writtenLevel.test(node.getText()));
    if (isWord) found.push(node);
    api.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** `REPEATABLE READ`, `repeatable read`, `REPEATABLE_READ`, `RepeatableRead`: as the level before it is spelled. */
function inStyleOf(written: string, level: IsolationName): string {
  if (/^[A-Z]+[a-z]/.test(written) && !/\s/.test(written))
    return level.replaceAll(/(?:^|\s)(\w)/g, (_, letter: string) => letter.toUpperCase());
  const separator = /[\s_-]/.exec(written)?.[0] ?? ' ';
  const words = level.replaceAll(' ', separator);
  return written === written.toUpperCase() ? words.toUpperCase() : words;
}
