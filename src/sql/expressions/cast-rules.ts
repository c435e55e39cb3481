/** Which types convert to which, and when: the catalogs pg_cast and pg_type as tables. PostgreSQL manual, chapter 10 and CREATE CAST. */
import { type Dialect, expressionRules, isSameType, type SqlType, type TypeName } from '../model/index.ts';

/** How a conversion is asked for: by an operator or function, by storing into a column, by the user. */
export type CastContext = 'implicit' | 'assignment' | 'explicit';

const strength: Readonly<Record<CastContext, number>> = { implicit: 0, assignment: 1, explicit: 2 };

/** What a conversion needs at least; `from: to to to`. */
const rules: readonly (readonly [CastContext, string])[] = [
  ['implicit', 'int2: int4 int8 numeric float4 float8 oid regclass regtype regnamespace regrole'],
  ['implicit', 'int4: int8 numeric float4 float8 oid regclass regtype regnamespace regrole'],
  ['assignment', 'int4: int2'],
  ['explicit', 'int4: bool char'],
  ['implicit', 'int8: numeric float4 float8 oid regclass regtype regnamespace regrole'],
  ['assignment', 'int8: int2 int4'],
  ['implicit', 'numeric: float4 float8'],
  ['assignment', 'numeric: int2 int4 int8'],
  ['implicit', 'float4: float8'],
  ['assignment', 'float4: int2 int4 int8 numeric'],
  ['assignment', 'float8: int2 int4 int8 numeric float4'],
  ['explicit', 'bool: int4'],
  ['assignment', 'bool: text varchar bpchar'],
  ['implicit', 'oid: regclass regtype regnamespace regrole'],
  ['assignment', 'oid: int4 int8'],
  ['implicit', 'regclass: oid'],
  ['assignment', 'regclass: int4 int8'],
  ['implicit', 'regtype: oid'],
  ['assignment', 'regtype: int4 int8'],
  ['implicit', 'regnamespace: oid'],
  ['assignment', 'regnamespace: int4 int8'],
  ['implicit', 'regrole: oid'],
  ['assignment', 'regrole: int4 int8'],
  ['implicit', 'text: varchar bpchar name regclass'],
  ['assignment', 'text: char'],
  ['implicit', 'varchar: text bpchar name regclass'],
  ['assignment', 'varchar: char'],
  ['implicit', 'bpchar: text varchar name'],
  ['assignment', 'bpchar: char'],
  ['implicit', 'name: text'],
  ['assignment', 'name: varchar bpchar'],
  ['implicit', 'char: text'],
  ['assignment', 'char: varchar bpchar'],
  ['explicit', 'char: int4'],
  ['implicit', 'date: timestamp timestamptz'],
  ['implicit', 'timestamp: timestamptz'],
  ['assignment', 'timestamp: date time'],
  ['assignment', 'timestamptz: timestamp date time'],
  ['implicit', 'time: interval'],
  ['assignment', 'interval: time'],
  ['assignment', 'json: jsonb'],
  ['assignment', 'jsonb: json'],
  ['explicit', 'jsonb: bool int2 int4 int8 numeric float4 float8'],
];

const needed = new Map<string, CastContext>();
for (const [context, rule] of rules) {
  const [from = '', targets = ''] = rule.split(': ');
  for (const to of targets.split(' ')) needed.set(`${from} ${to}`, context);
}

const stringTypes: ReadonlySet<TypeName> = new Set(['text', 'varchar', 'bpchar', 'name']);

/** The least context in which the conversion is allowed; `undefined`: never. */
function castNeeds(from: SqlType, to: SqlType, dialect: Dialect): CastContext | undefined {
  if (from.name === 'unknown' || isSameType(from, to)) return 'implicit';
  if (expressionRules[dialect].convertsAll) return 'implicit';
  if (from.name === 'array' && to.name === 'array') {
    return from.element === undefined || to.element === undefined
      ? undefined
      : castNeeds(from.element, to.element, dialect);
  }
  const rule = needed.get(`${from.name} ${to.name}`);
  if (rule !== undefined) return rule;
  // Any type goes through its text: out by assignment, in by request only.
  if (from.name === 'void' || to.name === 'void' || to.name === 'record') return undefined;
  if (stringTypes.has(to.name)) return 'assignment';
  return stringTypes.has(from.name) && to.name !== 'unknown' ? 'explicit' : undefined;
}

export function canCast(from: SqlType, to: SqlType, context: CastContext, dialect: Dialect): boolean {
  const needs = castNeeds(from, to, dialect);
  return needs !== undefined && strength[needs] <= strength[context];
}

/** pg_type.typcategory: overloads are chosen within one. */
export function categoryOf(name: TypeName): string {
  return categories[name];
}

const categories: Readonly<Record<TypeName, string>> = {
  bool: 'B',
  int2: 'N',
  int4: 'N',
  int8: 'N',
  uint8: 'N',
  numeric: 'N',
  float4: 'N',
  float8: 'N',
  oid: 'N',
  xid: 'U',
  regclass: 'N',
  regtype: 'N',
  regnamespace: 'N',
  regrole: 'N',
  text: 'S',
  varchar: 'S',
  bpchar: 'S',
  name: 'S',
  char: 'Z',
  date: 'D',
  time: 'D',
  timestamp: 'D',
  timestamptz: 'D',
  interval: 'T',
  bytea: 'U',
  uuid: 'U',
  json: 'U',
  jsonb: 'U',
  array: 'A',
  enum: 'E',
  record: 'P',
  unknown: 'X',
  void: 'P',
};

const preferred: ReadonlySet<TypeName> = new Set(['bool', 'float8', 'oid', 'text', 'timestamptz', 'interval']);

/** pg_type.typispreferred. */
export function isPreferred(name: TypeName): boolean {
  return preferred.has(name);
}
