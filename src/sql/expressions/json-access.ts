/** Walking in JSON documents and texts: `->`, `#>`, subscripts. */
import { isJsonObject, type JsonNode } from '../model/index.ts';

/** The member of an object, or the element of an array (from the end, where negative). `undefined`: there is none. */
export function jsonMember(value: unknown, key: string): unknown {
  if (Array.isArray(value)) {
    if (!/^\s*[+-]?\d+$/.test(key)) return undefined;
    return value.at(Number(key)) as unknown;
  }
  return isJsonObject(value) ? value[key] : undefined;
}

export function jsonPath(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => (at === undefined ? undefined : jsonMember(at, key)), value);
}

/** The same in a text that keeps its form; of double keys the last counts. */
export function nodeMember({ value }: JsonNode, key: string): JsonNode | undefined {
  if (value === null || typeof value !== 'object' || value.kind === 'numeric') return undefined;
  if (value.kind === 'array') return /^\s*[+-]?\d+$/.test(key) ? value.items.at(Number(key)) : undefined;
  return value.members.findLast(([name]) => name === key)?.[1];
}

export function nodePath(node: JsonNode, path: readonly string[]): JsonNode | undefined {
  return path.reduce<JsonNode | undefined>((at, key) => (at === undefined ? undefined : nodeMember(at, key)), node);
}
