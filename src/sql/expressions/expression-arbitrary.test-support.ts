/** Random typed expressions over all that PostgreSQL and we have: operators by their tables, casts, functions. */
import * as fc from 'fast-check';
import { functionTable } from './functions.ts';
import { operatorTable } from './operators.ts';
import type { ParameterType, Signature } from './signature.ts';

/** Literals by type; corners first. */
const literals: Readonly<Record<string, readonly string[]>> = {
  bool: ['true', 'false'],
  int2: ['0::int2', '1::int2', '-7::int2', '32767::int2'],
  int4: ['0', '1', '-1', '7', '12345', '2147483647', '-2147483648'],
  int8: ['0::int8', '3::int8', '-5::int8', '9223372036854775807', '4294967296'],
  numeric: ['0.0', '1.5', '-2.50', '123456.789', '0.001', '1e10::numeric', '99999999999999.99'],
  float4: ['0::float4', '1.5::float4', '-0.1::float4', '1e10::float4'],
  float8: ['0::float8', '0.1::float8', '-2.5::float8', '1e100::float8', '3::float8'],
  text: ["''::text", "'a'::text", "'Hello World'::text", "'héß 7'::text", "'12'::text", "'a,b,c'::text", "' x '::text"],
  varchar: ["'abc'::varchar", "'Xy'::varchar(5)"],
  bpchar: ["'ab'::char(4)", "'c'::char(1)"],
  bytea: ["'\\x'::bytea", "'\\x00ff10'::bytea"],
  date: ["'2020-02-29'::date", "'1999-12-31'::date", "'0001-01-01'::date", "'2024-07-01'::date"],
  time: ["'00:00'::time", "'23:59:59.5'::time", "'12:34:56'::time"],
  timestamp: ["'2020-02-29 12:34:56.789'::timestamp", "'1970-01-01'::timestamp", "'1999-12-31 23:59:59'::timestamp"],
  timestamptz: ["'2020-02-29 12:34:56+02'::timestamptz", "'2000-01-01'::timestamptz"],
  interval: ["'1 day'::interval", "'-1 mon 3 days 04:05:06.7'::interval", "'0'::interval", "'2 years'::interval"],
  uuid: ["'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'::uuid"],
  json: ['\'{"a":1,"b":[1,2]}\'::json', "'[1, null]'::json", "'7'::json"],
  jsonb: ['\'{"a":1,"b":{"c":[1,2]}}\'::jsonb', "'[1,2.50,null]'::jsonb", '\'"x"\'::jsonb', "'true'::jsonb"],
  'int4[]': ['array[1,2,3]', "'{}'::int4[]", 'array[1,null]', 'array[5]'],
  'text[]': ["array['a','b']", '\'{a,NULL,"c d"}\'::text[]', "'{b}'::text[]"],
  'int8[]': ['array[1::int8]'],
  unknown: ["'1'", "'a'", 'null', "'2020-01-01'", "'1 day'", "'t'"],
};

const names = Object.keys(literals);
const castTargets =
  'bool int2 int4 int8 numeric float4 float8 text varchar bpchar date time timestamp timestamptz interval json jsonb int4[] text[] numeric(6,2) varchar(3) char(4) timestamp(0)'.split(
    ' ',
  );

/** What differs on purpose or by the machine, and why. */
const excluded: ReadonlyMap<string, string> = new Map([
  ...'sin cos tan cot asin acos atan atan2 sinh cosh tanh exp ln log log10 power pow ^ cbrt degrees radians'
    .split(' ')
    .map((name) => [name, 'the last digit depends on the machine’s library of functions'] as const),
  ...'to_char to_date to_timestamp'
    .split(' ')
    .map((name) => [name, 'patterns in common use only: listed cases'] as const),
  ...'~ ~* !~ !~* regexp_match regexp_replace regexp_like regexp_count regexp_split_to_array'
    .split(' ')
    .map((name) => [name, 'regular expressions of JavaScript: listed cases'] as const),
  ...'factorial repeat lpad rpad array_fill setseed make_interval'
    .split(' ')
    .map((name) => [name, 'sizes that no test wants'] as const),
  ...'timezone encode decode format convert_from convert_to'
    .split(' ')
    .map((name) => [name, 'words: listed cases'] as const),
  ...'trunc overlaps array_positions right quote_literal quote_nullable make_timestamp'
    .split(' ')
    .map((name) => [name, 'PostgreSQL has more overloads, or takes odd texts: listed cases'] as const),
  ...'like_escape log10 float4 json_array_length ceiling'
    .split(' ')
    .map((name) => [name, 'tested under another name'] as const),
]);

const ambientNames: ReadonlySet<string> = new Set(
  'now random gen_random_uuid uuid_generate_v4 nextval currval setval lastval version pg_backend_pid set_config current_setting clock_timestamp statement_timestamp transaction_timestamp format_type age txid_current'.split(
    ' ',
  ),
);

const callable = (signatures: Iterable<readonly Signature[]>): Signature[] =>
  [...signatures].flat().filter(({ name, isVolatile, parameters }) => {
    const isAbout = /^(?:pg_|to_reg|obj_|col_|shobj_|has_|current_|session_)/.test(name) || ambientNames.has(name);
    return !isVolatile && !isAbout && !excluded.has(name) && parameters.length > 0;
  });

const operators = callable(operatorTable.values()).filter(({ name }) => /^\W+$/.test(name));
const functions = callable(functionTable.values()).filter(({ name }) => /^\w+$/.test(name));

/** SQL text that may or may not be right: its error counts too. */
export const anyExpression: fc.Arbitrary<string> = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3, depthIdentifier: 'expression' },
    { weight: 3, arbitrary: fc.constantFrom(...names).chain(literalOf) },
    { weight: 6, arbitrary: fc.constantFrom(...operators).chain((signature) => operatorCall(signature, tie('node'))) },
    { weight: 5, arbitrary: fc.constantFrom(...functions).chain((signature) => functionCall(signature, tie('node'))) },
    {
      weight: 2,
      arbitrary: fc.tuple(tie('node'), fc.constantFrom(...castTargets)).map(([inner, type]) => `(${inner})::${type}`),
    },
    { weight: 1, arbitrary: conditional(tie('node')) },
  ),
})).node;

function literalOf(name: string): fc.Arbitrary<string> {
  return fc.constantFrom(...(literals[name] ?? ['null']));
}

/** Mostly what the signature asks for; sometimes anything. */
function argument(parameter: ParameterType, inner: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const name =
    typeof parameter === 'string'
      ? parameter
      : parameter.name === 'array'
        ? `${parameter.element?.name ?? ''}[]`
        : parameter.name;
  const exact =
    name in literals
      ? literalOf(name)
      : fc.constantFrom(...(name.endsWith('array') ? ['int4[]', 'text[]'] : names)).chain(literalOf);
  return fc.oneof(
    { weight: 8, arbitrary: exact },
    { weight: 2, arbitrary: inner },
    { weight: 1, arbitrary: literalOf('unknown') },
  );
}

function operatorCall({ name, parameters }: Signature, inner: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(...parameters.map((parameter) => argument(parameter, inner)))
    .map((operands) =>
      operands.length === 1 ? `(${name} (${operands[0]}))` : `((${operands[0]}) ${name} (${operands[1]}))`,
    );
}

function functionCall({ name, parameters }: Signature, inner: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const quoted = ['extract', 'substring', 'position', 'overlay'].includes(name) ? `pg_catalog."${name}"` : name;
  return fc
    .tuple(...parameters.map((parameter) => argument(parameter, inner)))
    .map((values) => `${quoted}(${values.join(', ')})`);
}

function conditional(inner: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc
    .tuple(fc.constantFrom('case', 'coalesce', 'nullif', 'greatest', 'in', 'between', 'is', 'any'), inner, inner, inner)
    .map(([kind, a, b, c]) => {
      switch (kind) {
        case 'case':
          return `(case when (${a}) is null then (${b}) else (${c}) end)`;
        case 'in':
          return `((${a}) in (${b}, ${c}))`;
        case 'between':
          return `((${a}) between (${b}) and (${c}))`;
        case 'is':
          return `((${a}) is not distinct from (${b}))`;
        case 'any':
          return `((${a}) = any(array[${b}, ${c}]))`;
        case 'nullif':
          return `nullif(${a}, ${b})`;
        default:
          return `${kind}(${a}, ${b}, ${c})`;
      }
    });
}
