/** MySQL's JSON paths: `$.name[0]."a b"[*]`. Reference manual, "JSON Path Syntax". */
import { SqlError, isJsonObject } from '../model/index.ts';

const step = /\s*(?:\.\s*(\*|[A-Za-z_$\u0080-\uffff][\w$\u0080-\uffff]*|"(?:[^"\\]|\\.)*")|\[\s*(\*|\d+)\s*\])/y;

/** What the path leads to; nothing, one, or with `*` many. @throws SqlError 42000 */
export function mysqlJsonPath(document: unknown, path: string): unknown[] {
  const text = path.trim();
  if (!text.startsWith('$')) throw invalidPath(path);
  let found: unknown[] = [document];
  step.lastIndex = 1;
  while (step.lastIndex < text.length) {
    const match = step.exec(text);
    if (match === null) throw invalidPath(path);
    const [, member, index] = match;
    found = found.flatMap((value) => (index === undefined ? members(value, member ?? '') : elements(value, index)));
  }
  return found;
}

export type JsonStep =
  | { readonly kind: 'member'; readonly name: string }
  | { readonly kind: 'element'; readonly index: number };

/** Of a path to one place. @throws SqlError 42000 */
export function mysqlJsonSteps(path: string): JsonStep[] {
  const text = path.trim();
  if (!text.startsWith('$')) throw invalidPath(path);
  const steps: JsonStep[] = [];
  step.lastIndex = 1;
  while (step.lastIndex < text.length) {
    const match = step.exec(text);
    if (match === null) throw invalidPath(path);
    const [, member = '', index] = match;
    if ((index ?? member) === '*') throw manyPlaces();
    steps.push(
      index === undefined ? { kind: 'member', name: nameIn(member) } : { kind: 'element', index: Number(index) },
    );
  }
  return steps;
}

function manyPlaces(): SqlError {
  const message = 'In this situation, path expressions may not contain the * and ** tokens or an array range.';
  return new SqlError('42000', message, { mysqlNumber: 3149 });
}

function nameIn(member: string): string {
  return member.startsWith('"') ? (JSON.parse(member) as string) : member;
}

function invalidPath(path: string): SqlError {
  return new SqlError('42000', `Invalid JSON path expression. The error is around '${path}'.`, { mysqlNumber: 3143 });
}

function members(value: unknown, name: string): unknown[] {
  if (!isJsonObject(value)) return [];
  if (name === '*') return Object.values(value);
  const key = nameIn(name);
  return Object.hasOwn(value, key) ? [value[key]] : [];
}

/** What is no array counts as an array of itself. */
function elements(value: unknown, index: string): unknown[] {
  if (!Array.isArray(value)) return index === '0' ? [value] : [];
  if (index === '*') return value as unknown[];
  return Number(index) < value.length ? [value[Number(index)]] : [];
}
