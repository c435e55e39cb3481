/**
 * The first part of a SQL program's replay token: the decisions of the run, and the access paths of statements where they are not the likely
 * ones: `2.0112+k3f90c1`, by `accessKey` (six characters) and the position of the path.
 */
import { InputError } from '../base/index.ts';
import { decodePath, encodePath } from '../program/index.ts';
import type { Ways } from '../database/index.ts';

export interface SqlChoices {
  readonly path: readonly number[];
  readonly ways: Ways;
}

export function encodeChoices({ path, ways }: SqlChoices): string {
  const sorted = Object.entries(ways).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return encodePath(path) + sorted.map(([key, way]) => `+${key}${way}`).join('');
}

/** @throws InputError `replay/token` */
export function decodeChoices(choices: string): SqlChoices {
  const [path = '', ...ways] = choices.split('+');
  return { path: decodePath(path), ways: Object.fromEntries(ways.map(parseWay)) };
}

function parseWay(text: string): [string, number] {
  const { key, way } = /^(?<key>[0-9a-z]{6})(?<way>[1-9][0-9]{0,3})$/.exec(text)?.groups ?? {};
  if (key === undefined || way === undefined)
    throw new InputError('replay/token', `"+${text}" in the replay token is no access path`);
  return [key, Number(way)];
}
