/** The names of schema.prisma: models, fields, relations, with `@map` and `@@map`. Types and the rest of the language are left out. */

export interface PrismaModel {
  readonly name: string;
  readonly table: string;
  readonly fields: ReadonlyMap<string, PrismaField>;
  /** Of the primary key. */
  readonly id: readonly string[];
  /** `a_b`, or the name of a `@@unique` or `@@id`: its fields. */
  readonly compound: ReadonlyMap<string, readonly string[]>;
}

export interface PrismaField {
  readonly column: string;
  /** What the client fills in: `@updatedAt` always, `@default(uuid())` on INSERT. */
  readonly filled: 'always' | 'on insert' | 'never';
  readonly isUnique: boolean;
  readonly relation: PrismaRelation | null;
}

export interface PrismaRelation {
  readonly model: string;
  readonly isList: boolean;
  /** Its name, where two models have several relations. */
  readonly name: string | null;
  /** Of the side that has the foreign key; empty on the other side. */
  readonly fields: readonly string[];
  readonly references: readonly string[];
}

/** O(length of the texts) */
export function parsePrismaSchema(texts: readonly string[]): ReadonlyMap<string, PrismaModel> {
  const blocks = texts.flatMap((text) => [
    ...text.replaceAll(/^\s*\/\/.*$/gm, '').matchAll(/^\s*model\s+(\w+)\s*\{([^}]*(?:\}(?!\s*$)[^}]*)*)\}/gm),
  ]);
  const names = new Set(blocks.map(([, name = '']) => name));
  return new Map(blocks.map(([, name = '', body = '']) => [name, modelOf(name, body, names)]));
}

function modelOf(name: string, body: string, models: ReadonlySet<string>): PrismaModel {
  const fields = new Map<string, PrismaField>();
  const compound = new Map<string, readonly string[]>();
  let table = name;
  let id: readonly string[] = [];
  for (const line of body.split('\n').map((one) => one.trim())) {
    const [, block, rest = ''] = /^@@(\w+)(.*)$/.exec(line) ?? [];
    if (block === 'map') table = quoted(rest) ?? table;
    if (block === 'id' || block === 'unique') {
      const columns = listIn(rest);
      compound.set(/\bname:\s*"([^"]+)"/.exec(rest)?.[1] ?? columns.join('_'), columns);
      if (block === 'id') id = columns;
    }
    const [, field, type = '', isList, attributes = ''] = /^(\w+)\s+(\w+)(\[\])?\??(.*)$/.exec(line) ?? [];
    if (field === undefined) continue;
    if (/@id\b/.test(attributes)) id = [field];
    fields.set(
      field,
      fieldOf(field, attributes, models.has(type) ? relationOf(type, isList !== undefined, attributes) : null),
    );
  }
  return { name, table, fields, id, compound };
}

function fieldOf(name: string, attributes: string, relation: PrismaRelation | null): PrismaField {
  const onInsert = /@default\(\s*(?:uuid|cuid|nanoid|ulid)\(/.test(attributes);
  return {
    column: quoted(/@map\(([^)]*)\)/.exec(attributes)?.[1] ?? '') ?? name,
    filled: /@updatedAt\b/.test(attributes) ? 'always' : onInsert ? 'on insert' : 'never',
    isUnique: /@(?:id|unique)\b/.test(attributes),
    relation,
  };
}

function relationOf(model: string, isList: boolean, attributes: string): PrismaRelation {
  const inner = /@relation\(([^)]*)\)/.exec(attributes)?.[1] ?? '';
  return {
    model,
    isList,
    name: /^\s*(?:name:\s*)?"([^"]+)"/.exec(inner)?.[1] ?? null,
    fields: listIn(/\bfields:\s*(\[[^\]]*\])/.exec(inner)?.[1] ?? ''),
    references: listIn(/\breferences:\s*(\[[^\]]*\])/.exec(inner)?.[1] ?? ''),
  };
}

function quoted(text: string): string | undefined {
  return /"([^"]*)"/.exec(text)?.[1];
}

function listIn(text: string): readonly string[] {
  return (/\[([^\]]*)\]/.exec(text)?.[1] ?? '')
    .split(',')
    .map((one) => one.replace(/\(.*$/, '').trim())
    .filter((one) => one !== '');
}

/** The fields of both sides that a relation makes equal: `[own, other]`. */
export function joinedFields(
  models: ReadonlyMap<string, PrismaModel>,
  model: PrismaModel,
  relation: PrismaRelation,
): readonly (readonly [string, string])[] {
  if (relation.fields.length > 0) return relation.fields.map((own, index) => [own, relation.references[index] ?? own]);
  const back = [...(models.get(relation.model)?.fields.values() ?? [])].find(
    ({ relation: other }) =>
      other !== null && other.model === model.name && other.fields.length > 0 && other.name === relation.name,
  )?.relation;
  return (back?.fields ?? []).map((other, index) => [back?.references[index] ?? other, other]);
}

/** The table of a many-to-many relation, with the columns for both sides. */
export interface PrismaLink {
  readonly table: string;
  readonly own: 'A' | 'B';
  readonly other: 'A' | 'B';
}

/** Where both sides are lists and no model stands between them. Of a relation of a model with itself, the field of the first name is on side A. */
export function linkOf(
  models: ReadonlyMap<string, PrismaModel>,
  model: PrismaModel,
  relation: PrismaRelation,
): PrismaLink | null {
  const [back, backField] = sideOf(models.get(relation.model), (other) => {
    const isBack = other.model === model.name && other.name === relation.name;
    return isBack && other !== relation;
  });
  if (!relation.isList || back?.isList !== true) return null;
  const [, field] = sideOf(model, (other) => other === relation);
  const isFirst = model.name === relation.model ? field < backField : model.name < relation.model;
  const [first, second] = isFirst ? [model.name, relation.model] : [relation.model, model.name];
  return { table: `_${relation.name ?? `${first}To${second}`}`, own: isFirst ? 'A' : 'B', other: isFirst ? 'B' : 'A' };
}

function sideOf(
  model: PrismaModel | undefined,
  isIt: (relation: PrismaRelation) => boolean,
): readonly [PrismaRelation | undefined, string] {
  for (const [name, { relation }] of model?.fields ?? [])
    if (relation !== null && isIt(relation)) return [relation, name];
  return [undefined, ''];
}
