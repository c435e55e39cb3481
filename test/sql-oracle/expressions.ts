/** Random expressions over the columns in sight. */
import type { Dialect } from '../../src/sql/model/index.ts';
import type { Choices } from './choices.ts';
import type { Column, Family, Table } from './schema.ts';

export interface Source {
  readonly alias: string;
  readonly columns: readonly Column[];
}

export class ExpressionMaker {
  readonly choices: Choices;
  readonly dialect: Dialect;
  readonly tables: readonly Table[];
  #names = 0;

  constructor(choices: Choices, dialect: Dialect, tables: readonly Table[]) {
    this.choices = choices;
    this.dialect = dialect;
    this.tables = tables;
  }

  alias(): string {
    return `q${++this.#names}`;
  }

  table(): Source {
    return { alias: this.alias(), columns: this.choices.pick(this.tables).columns };
  }

  column(scope: readonly Source[], ...families: readonly Family[]): string | undefined {
    const able = scope.flatMap(({ alias, columns }) =>
      columns.filter(({ family }) => families.includes(family)).map(({ name }) => `${alias}.${name}`),
    );
    return able.length === 0 ? undefined : this.choices.pick(able);
  }

  /** Any column, with what it can be compared with. */
  anyColumn(scope: readonly Source[]): { readonly text: string; readonly column: Column } {
    const all = scope.flatMap(({ alias, columns }) =>
      columns.map((column) => ({ text: `${alias}.${column.name}`, column })),
    );
    return this.choices.pick(all);
  }

  value(scope: readonly Source[], depth: number): string {
    switch (this.choices.choose(5)) {
      case 0:
      case 1:
        return this.anyColumn(scope).text;
      case 2:
        return this.number(scope, depth);
      case 3:
        return this.text(scope, depth);
      default:
        return this.special(scope, depth);
    }
  }

  number(scope: readonly Source[], depth: number): string {
    const { choices } = this;
    const leaf = (): string => this.#numberLeaf(scope);
    if (depth <= 0) return leaf();
    const next = (): string => this.number(scope, depth - 1);
    const common: (() => string)[] = [
      leaf,
      leaf,
      () => `(${next()} + ${next()})`,
      () => `(${next()} - ${next()})`,
      () => `(${leaf()} * ${leaf()})`,
      () => `abs(${next()})`,
      () => `(- ${next()})`,
      () => `coalesce(${leaf()}, ${next()})`,
      () => `nullif(${leaf()}, ${leaf()})`,
      () => `CASE WHEN ${this.condition(scope, depth - 1)} THEN ${next()} ELSE ${next()} END`,
      () => `CASE ${leaf()} WHEN 1 THEN ${next()} WHEN 2 THEN ${leaf()} END`,
      () => `greatest(${next()}, ${leaf()})`,
      () => `least(${next()}, ${leaf()})`,
      () => `length(${this.text(scope, depth - 1)})`,
      () => `(${next()} / nullif(${leaf()}, 0))`,
      () => `(${leaf()} % nullif(${this.#integer(scope)}, 0))`,
      () => `round(${leaf()})`,
      () => this.#scalarSubquery(scope, depth),
    ];
    const own: (() => string)[] =
      this.dialect === 'postgres'
        ? [
            () => `(${leaf()})::${choices.pick(['numeric', 'int', 'bigint', 'float8', 'numeric(6,1)'])}`,
            () => `(${this.condition(scope, depth - 1)})::int`,
            () => `extract(${choices.pick(['year', 'month', 'day', 'dow'])} FROM ${this.#date(scope)})`,
          ]
        : [
            () => `CAST(${leaf()} AS ${choices.pick(['SIGNED', 'DECIMAL(12,2)', 'DOUBLE'])})`,
            () => `(${this.condition(scope, depth - 1)})`,
            () => `(${leaf()} DIV nullif(${this.#integer(scope)}, 0))`,
            () => `IF(${this.condition(scope, depth - 1)}, ${next()}, ${leaf()})`,
            () => `IFNULL(${leaf()}, ${next()})`,
            () => `${choices.pick(['YEAR', 'MONTH', 'DAY', 'DAYOFWEEK'])}(${this.#date(scope)})`,
          ];
    return choices.pick([...common, ...own])();
  }

  text(scope: readonly Source[], depth: number): string {
    const { choices } = this;
    const leaf = (): string =>
      choices.rarely(3)
        ? choices.pick(["'a'", "'B'", "''", "'abc'", "'é'", "'1'"])
        : (this.column(scope, 'text') ?? "'ab'");
    if (depth <= 0) return leaf();
    const next = (): string => this.text(scope, depth - 1);
    const common: (() => string)[] = [
      leaf,
      leaf,
      () => `concat(${next()}, ${leaf()})`,
      () => `upper(${next()})`,
      () => `lower(${next()})`,
      () => `substring(${next()}, ${choices.pick(['1', '2', '-1'])}, 2)`,
      () => `coalesce(${leaf()}, ${next()})`,
      () => `replace(${next()}, 'a', 'xy')`,
      () => `trim(${next()})`,
      () => `left(${next()}, 2)`,
      () => `CASE WHEN ${this.condition(scope, depth - 1)} THEN ${next()} ELSE ${leaf()} END`,
      () => `nullif(${leaf()}, 'a')`,
      () => `concat_ws('-', ${leaf()}, ${next()})`,
    ];
    const own: (() => string)[] =
      this.dialect === 'postgres'
        ? [
            () => `(${next()} || ${leaf()})`,
            () => `(${this.anyColumn(scope).text})::text`,
            () => `lpad(${leaf()}, 4, '*')`,
            () => `split_part(${leaf()}, '_', 1)`,
          ]
        : [
            () => `CAST(${this.#numberLeaf(scope)} AS CHAR)`,
            () => `LPAD(${leaf()}, 4, '*')`,
            () => `REVERSE(${leaf()})`,
          ];
    return choices.pick([...common, ...own])();
  }

  condition(scope: readonly Source[], depth: number): string {
    const { choices } = this;
    const { text, column } = this.anyColumn(scope);
    const isOrderable = column.family !== 'json';
    const literal = (): string => choices.pick(column.literals);
    const sameFamily = (): string => this.column(scope, column.family) ?? text;
    const simple: (() => string)[] = [
      () => `${text} IS NULL`,
      () => `${text} IS NOT NULL`,
      () => `${this.number(scope, depth - 1)} ${this.#comparison()} ${this.number(scope, depth - 1)}`,
      () => `${this.text(scope, depth - 1)} ${this.#comparison()} ${this.text(scope, depth - 1)}`,
      () =>
        `${this.text(scope, 0)} ${choices.pick(['LIKE', 'NOT LIKE'])} ${choices.pick(["'a%'", "'%b'", "'_'", "'a\\_c'", "''"])}`,
    ];
    const orderable: (() => string)[] = [
      () => `${text} = ${literal()}`,
      () => `${text} ${this.#comparison()} ${literal()}`,
      () => `${text} ${this.#comparison()} ${sameFamily()}`,
      () => `${text} IN (${choices.list(1, 3, literal).join(', ')})`,
      () => `${text} NOT IN (${literal()}, NULL)`,
      () => `${text} BETWEEN ${literal()} AND ${literal()}`,
      () => `(${text}, ${this.#numberLeaf(scope)}) ${choices.pick(['=', '<', '<>'])} (${literal()}, 1)`,
    ];
    if (depth > 0) simple.push(...this.#nestedConditions(scope, depth));
    if (this.dialect === 'postgres') {
      orderable.push(() => `${text} IS ${choices.pick(['', 'NOT '])}DISTINCT FROM ${sameFamily()}`);
      simple.push(
        () => `${this.#numberLeaf(scope)} = ANY (ARRAY[1, 2, NULL])`,
        () => this.column(scope, 'bool') ?? 'true',
        () => `(${this.condition(scope, depth - 1)}) IS ${choices.pick(['TRUE', 'NOT TRUE', 'UNKNOWN'])}`,
      );
    } else {
      orderable.push(() => `${text} <=> ${sameFamily()}`);
      simple.push(
        () => this.#numberLeaf(scope),
        () => `(${this.condition(scope, 0)}) IS ${choices.pick(['TRUE', 'NOT TRUE', 'UNKNOWN'])}`,
      );
    }
    return choices.pick(isOrderable ? [...orderable, ...simple] : simple)();
  }

  #nestedConditions(scope: readonly Source[], depth: number): (() => string)[] {
    const next = (): string => this.condition(scope, depth - 1);
    const { choices } = this;
    return [
      () => `(${next()} AND ${next()})`,
      () => `(${next()} OR ${next()})`,
      () => `NOT (${next()})`,
      () =>
        this.#subquery(
          scope,
          depth,
          (from, where) => `${choices.pick(['', 'NOT '])}EXISTS (SELECT 1 ${from} ${where})`,
        ),
      () =>
        this.#subquery(scope, depth, (from, where, inner) => {
          const own = this.column([inner], 'number') ?? '1';
          return `${this.#numberLeaf(scope)} ${choices.pick(['IN', 'NOT IN', '= ANY', '> ALL', '<= ANY'])} (SELECT ${own} ${from} ${where})`;
        }),
      () =>
        this.#subquery(scope, depth, (from, where, inner) => {
          const [first, second] = [this.column([inner], 'number') ?? '1', this.column([inner], 'number') ?? '1'];
          return `(${this.#numberLeaf(scope)}, ${this.#numberLeaf(scope)}) IN (SELECT ${first}, ${second} ${from} ${where})`;
        }),
    ];
  }

  #scalarSubquery(scope: readonly Source[], depth: number): string {
    return this.#subquery(scope, depth, (from, where, inner) => {
      const own = this.column([inner], 'number') ?? '1';
      const call = this.choices.pick([`count(*)`, `max(${own})`, `min(${own})`, `sum(${own})`, own]);
      return `(SELECT ${call} ${from} ${where})`;
    });
  }

  /** Correlated half of the time. */
  #subquery(
    scope: readonly Source[],
    depth: number,
    make: (from: string, where: string, inner: Source) => string,
  ): string {
    const table = this.choices.pick(this.tables);
    const inner: Source = { alias: this.alias(), columns: table.columns };
    const seen = this.choices.rarely(2) ? [...scope, inner] : [inner];
    return make(`FROM ${table.name} ${inner.alias}`, `WHERE ${this.condition(seen, depth - 1)}`, inner);
  }

  /** What belongs to one dialect and the other types. */
  special(scope: readonly Source[], depth: number): string {
    const { choices } = this;
    const [json, array] = [this.column(scope, 'json'), this.column(scope, 'array')];
    const [time, interval] = [this.column(scope, 'timestamp', 'date'), this.column(scope, 'interval')];
    const bytes = this.column(scope, 'bytes');
    const found: string[] = [this.condition(scope, depth - 1)];
    if (this.dialect === 'mysql') {
      if (json !== undefined) found.push(`JSON_EXTRACT(${json}, '$.a')`, `JSON_VALID(${json})`);
      if (time !== undefined)
        found.push(
          `${time} + INTERVAL 1 DAY`,
          `DATE_ADD(${time}, INTERVAL 90 MINUTE)`,
          `DATE_FORMAT(${time}, '%Y-%m-%d %H:%i:%s')`,
          `DATEDIFF(${time}, '2024-01-01')`,
          `DATE(${time})`,
        );
      if (bytes !== undefined) found.push(`HEX(${bytes})`, `LENGTH(${bytes})`);
      return choices.pick(found);
    }
    if (json !== undefined)
      found.push(
        `${json} -> 'a'`,
        `${json} ->> 'a'`,
        `(${json})::jsonb`,
        `(${json})::jsonb @> '{"a": 1}'`,
        `${json} #> '{b,0}'`,
      );
    if (array !== undefined)
      found.push(
        `${array}[1]`,
        `cardinality(${array})`,
        `array_length(${array}, 1)`,
        `${array} || ${array}`,
        `array_to_string(${array}, ',')`,
      );
    if (time !== undefined)
      found.push(
        `${time} + interval '1 month'`,
        `date_trunc('month', ${time})`,
        `(${time})::date`,
        `to_char(${time}, 'YYYY-MM-DD')`,
        `${time} - ${time}`,
      );
    if (interval !== undefined)
      found.push(`${interval} * 2`, `extract(epoch FROM ${interval})`, `justify_hours(${interval})`);
    if (bytes !== undefined) found.push(`encode(${bytes}, 'hex')`, `octet_length(${bytes})`, `${bytes} || ${bytes}`);
    return choices.pick(found);
  }

  #numberLeaf(scope: readonly Source[]): string {
    if (this.choices.rarely(3)) return this.choices.pick(['1', '0', '2', '3', '1.5', '-1']);
    return this.column(scope, 'number') ?? '1';
  }

  #integer(scope: readonly Source[]): string {
    return this.choices.rarely(3) ? '2' : `${scope[0]?.alias}.id`;
  }

  #date(scope: readonly Source[]): string {
    return this.column(scope, 'date', 'timestamp') ?? "DATE '2024-02-29'";
  }

  #comparison(): string {
    return this.choices.pick(['=', '<', '<=', '>', '>=', '<>']);
  }
}
