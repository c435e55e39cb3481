/** Relations of Prisma: they are read and written by statements of their own. */
import { withCondition } from './query.ts';
import { inList, optionsOf } from './clauses.ts';
import { chosenFields, countedRelations } from './prisma-data.ts';
import { join } from './fragment.ts';
import type { Abstract, Fragment } from '../abstract-value.ts';
import { columnOf } from './chain.ts';
import { identifier } from './identifier.ts';
import { joinedFields, linkOf } from './prisma-schema.ts';
import { type PrismaCall, run, shown, start } from './prisma-statement.ts';
import { column, relatedCount, whereFragment } from './prisma-where.ts';

export function keysOf(call: PrismaCall, relation: string): readonly string[] {
  const { models, model } = call;
  const known = model.fields.get(relation)?.relation;
  if (known === undefined || known === null) return [];
  return linkOf(models, model, known) === null ? joinedFields(models, model, known).map(([own]) => own) : model.id;
}

/** A statement for each relation, with the keys of the rows that were read. */
export function readRelations(
  call: PrismaCall,
  rows: Abstract,
  relations: readonly (readonly [string, Abstract])[],
): void {
  for (const [name, value] of relations) {
    const relation = call.model.fields.get(name)?.relation;
    const other = relation === undefined || relation === null ? undefined : call.models.get(relation.model);
    if (relation === undefined || relation === null || other === undefined) {
      call.machine.notUnderstood(call.at, `the relation ${name} of ${call.model.name} is not in schema.prisma`);
      continue;
    }
    const inner: PrismaCall = { ...call, model: other, alias: other.table, options: optionsOf(value) };
    const joined = joinedFields(call.models, call.model, relation);
    const link = linkOf(call.models, call.model, relation);
    const linkPart = (side: string): Fragment => [{ kind: 'column-part', table: link?.table ?? '', name: side }];
    const ids = columnOf(rows, call.model.id[0] ?? 'id');
    const keys =
      link === null
        ? joined.map(([own, theirs]) => inList(call.machine, column(inner, theirs), columnOf(rows, own), false))
        : [inList(call.machine, linkPart(link.own), ids, false)];
    const joins: readonly Fragment[] =
      link === null
        ? []
        : [
            [
              `JOIN ${identifier(link.table, call.machine.dialect)} ON `,
              ...linkPart(link.other),
              ' = ',
              ...column(inner, other.id[0] ?? 'id'),
            ],
          ];
    if (keys.length === 0) {
      call.machine.notUnderstood(call.at, `the fields of the relation ${name} are not known`);
      continue;
    }
    const { fields, relations: further } = chosenFields(inner, inner.options);
    const found = withCondition(start(inner, 'select'), join(keys, ' AND '));
    const query = withCondition(found, whereFragment(inner, inner.options.get('where')));
    const others = run(inner, {
      ...query,
      joins,
      columns: [...new Set([...fields, ...joined.map(([, theirs]) => theirs)])].map((field) => shown(inner, field)),
    });
    readRelations(inner, others, further);
  }
}

/** `_count` of rows that were written. */
export function readCounts(call: PrismaCall, rows: Abstract): void {
  const columns = counts(call);
  if (columns.length === 0) return;
  const tests = call.model.id.map((key) => inList(call.machine, column(call, key), columnOf(rows, key), false));
  run(call, { ...withCondition(start(call, 'select'), join(tests, ' AND ')), columns });
}

/** A column for each relation whose rows are counted. */
export function counts(call: PrismaCall): readonly Fragment[] {
  return countedRelations(call, call.options).map(([relation, name, where]) => [
    ...relatedCount(call, relation, where),
    ` AS ${identifier(`_count_${name}`, call.machine.dialect)}`,
  ]);
}
