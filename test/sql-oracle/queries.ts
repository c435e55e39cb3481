/** Random queries by form. */
import type { Statement } from './answer.ts';
import { ExpressionMaker, type Source } from './expressions.ts';
import type { Column, Table } from './schema.ts';

interface From {
  readonly text: string;
  readonly scope: readonly Source[];
  /** Columns that tell its rows apart. */
  readonly keys: readonly string[];
}

const numberColumn = (name: string): Column => ({ name, family: 'number', literals: ['1', '0', '2'], odd: [] });
const ids: readonly Column[] = ['id', 'r'].map(numberColumn);

export class QueryMaker extends ExpressionMaker {
  plain(): Statement {
    const from = this.#from();
    const columns = this.choices.list(1, 4, () => this.value(from.scope, 2));
    const named = columns.map((text, i) => (this.choices.rarely(3) ? `${text} AS c${i}` : text));
    const list = this.choices.pick([
      named.join(', '),
      '*',
      `${from.scope[0]?.alias}.*, ${named.join(', ')}`,
      named.join(', '),
    ]);
    return { sql: `SELECT ${list} FROM ${from.text}${this.#where(from)}` };
  }

  ordered(): Statement {
    const from = this.#from(this.tables.filter(({ isKeyed }) => isKeyed));
    const columns = this.choices.list(1, 3, () => this.value(from.scope, 1));
    const { text, column } = this.anyColumn(from.scope);
    const nulls =
      this.dialect === 'postgres' ? ['', ' DESC', ' NULLS FIRST', ' DESC NULLS LAST'] : ['', ' DESC', ' ASC', ' DESC'];
    const first = column.family === 'json' ? this.number(from.scope, 1) : text;
    // A number alone would be a column's place.
    const order = [`${/^-?[\d.]+$/.test(first) ? `${first} + 0` : first}${this.choices.pick(nulls)}`, ...from.keys];
    const limit = this.choices.pick(['', ' LIMIT 2', ' LIMIT 3 OFFSET 1', ' LIMIT 0', this.#offset()]);
    const lock =
      this.choices.rarely(8) && !/ (?:LEFT|RIGHT|FULL) /.test(from.text) && !from.text.includes('(SELECT')
        ? ' FOR UPDATE'
        : '';
    const sql = `SELECT ${columns.join(', ')} FROM ${from.text}${this.#where(from)} ORDER BY ${order.join(', ')}${limit}${lock}`;
    return { sql, isOrdered: true };
  }

  #offset(): string {
    return this.dialect === 'postgres' ? ' OFFSET 1' : ' LIMIT 1, 2';
  }

  grouped(): Statement {
    const from = this.#from();
    const keys = this.choices.list(0, 2, () => this.#groupKey(from));
    const calls = this.choices.list(1, 3, () => this.#aggregate(from));
    const group = keys.length === 0 ? '' : ` GROUP BY ${this.#groupList(keys)}`;
    const having = this.choices.rarely(3)
      ? ` HAVING ${this.choices.pick(['count(*) > 1', `sum(${from.scope[0]?.alias}.id) IS NOT NULL`, `count(${from.scope[0]?.alias}.r) <> 1`])}`
      : '';
    return { sql: `SELECT ${[...keys, ...calls].join(', ')} FROM ${from.text}${this.#where(from)}${group}${having}` };
  }

  #groupKey(from: From): string {
    const { text, column } = this.anyColumn(from.scope);
    return column.family === 'json'
      ? `${from.scope[0]?.alias}.id`
      : this.choices.pick([text, text, `(${text} IS NULL)`]);
  }

  #groupList(keys: readonly string[]): string {
    if (this.dialect === 'mysql') return keys.join(', ');
    const list = keys.join(', ');
    return this.choices.pick([
      list,
      list,
      list,
      '1',
      `ROLLUP (${list})`,
      `GROUPING SETS ((${list}), ())`,
      `CUBE (${list})`,
    ]);
  }

  #aggregate({ scope }: From): string {
    const { text, column } = this.anyColumn(scope);
    const able =
      column.family === 'json' || (this.dialect === 'postgres' && ['bool', 'uuid', 'bytes'].includes(column.family))
        ? `${scope[0]?.alias}.id`
        : text;
    const number = this.column(scope, 'number') ?? '1';
    const distinct = this.choices.rarely(4) ? 'DISTINCT ' : '';
    const common = [
      'count(*)',
      `count(${distinct}${able})`,
      `sum(${distinct}${number})`,
      `avg(${number})`,
      `min(${able})`,
      `max(${able})`,
      `sum(${this.number(scope, 1)})`,
    ];
    const own =
      this.dialect === 'postgres'
        ? [
            `count(*) FILTER (WHERE ${this.condition(scope, 1)})`,
            `bool_and(${this.condition(scope, 0)})`,
            `string_agg(${distinct}${this.text(scope, 0)}, ',')`.replace(
              /string_agg\((DISTINCT )?(.*), ','\)/,
              (_all, word: string | undefined, value: string) =>
                `string_agg(${word ?? ''}${value}, ',' ORDER BY ${value})`,
            ),
            `array_agg(${scope[0]?.alias}.id ORDER BY ${scope[0]?.alias}.id)`,
            `stddev(${scope[0]?.alias}.id)`,
          ]
        : [
            `GROUP_CONCAT(${scope[0]?.alias}.id ORDER BY 1 SEPARATOR ';')`,
            `BIT_OR(${scope[0]?.alias}.id)`,
            `STDDEV(${scope[0]?.alias}.id)`,
          ];
    return this.choices.pick([...common, ...own]);
  }

  distinct(): Statement {
    const from = this.#from(this.tables.filter(({ isKeyed }) => isKeyed));
    const columns = this.choices.list(1, 3, () => this.#groupKey(from));
    if (this.dialect === 'postgres' && this.choices.rarely(3)) {
      const sql = `SELECT DISTINCT ON (${columns[0]}) ${columns.join(', ')}, ${from.keys[0]} FROM ${from.text}${this.#where(from)} ORDER BY ${columns[0]}, ${from.keys.join(', ')}`;
      return { sql, isOrdered: true };
    }
    return { sql: `SELECT DISTINCT ${columns.join(', ')} FROM ${from.text}${this.#where(from)}` };
  }

  union(): Statement {
    const family = this.choices.pick(['number', 'text', 'date', 'number'] as const);
    const part = (): string => {
      const from = this.#from();
      const value =
        family === 'number'
          ? this.number(from.scope, 1)
          : family === 'text'
            ? this.text(from.scope, 1)
            : (this.column(from.scope, 'date', 'timestamp') ?? 'NULL');
      return `SELECT ${value}, ${this.number(from.scope, 0)} FROM ${from.text}${this.#where(from)}`;
    };
    const word = (): string =>
      this.choices.pick(['UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT', 'INTERSECT ALL', 'EXCEPT ALL']);
    const sql = this.choices.rarely(3)
      ? `${part()} ${word()} (${part()} ${word()} ${part()})`
      : `${part()} ${word()} ${part()}`;
    return { sql };
  }

  window(): Statement {
    const from = this.#from(this.tables.filter(({ isKeyed }) => isKeyed));
    const call = (): string => {
      const number = this.column(from.scope, 'number') ?? '1';
      const { text, column } = this.anyColumn(from.scope);
      const able = column.family === 'json' ? number : text;
      const rankings = ['row_number()', 'rank()', 'dense_rank()', 'percent_rank()', 'cume_dist()', 'ntile(2)'];
      const name = this.choices.pick([
        ...rankings,
        `sum(${number})`,
        'count(*)',
        `lag(${able})`,
        `lead(${able}, 2)`,
        `first_value(${able})`,
        `last_value(${able})`,
        `nth_value(${able}, 2)`,
        `min(${number})`,
      ]);
      const partition = this.choices.rarely(2) ? `PARTITION BY ${this.#groupKey(from)} ` : '';
      const order = `ORDER BY ${[...(this.choices.rarely(2) ? [this.#groupKey(from)] : []), ...from.keys].join(', ')}`;
      const mayFrame = /^(?:sum|count|first|last|nth|min)/.test(name);
      const frames = [
        '',
        '',
        ' ROWS BETWEEN 1 PRECEDING AND CURRENT ROW',
        ' ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING',
        ' RANGE UNBOUNDED PRECEDING',
        ' ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING',
      ];
      return `${name} OVER (${partition}${order}${mayFrame ? this.choices.pick(frames) : ''})`;
    };
    return {
      sql: `SELECT ${from.keys.join(', ')}, ${this.choices.list(1, 2, call).join(', ')} FROM ${from.text}${this.#where(from)}`,
    };
  }

  withQuery(): Statement {
    const { choices } = this;
    if (choices.rarely(3)) return this.#recursive();
    const inner = this.#from();
    const numbers = [this.number(inner.scope, 1), this.number(inner.scope, 1)];
    const kind = this.dialect === 'postgres' ? choices.pick(['', 'MATERIALIZED ', 'NOT MATERIALIZED ']) : '';
    const head = `WITH w (x, y) AS ${kind}(SELECT ${numbers.join(', ')} FROM ${inner.text}${this.#where(inner)})`;
    const scope = ['a', 'b'].map((alias) => ({ alias, columns: ['x', 'y'].map(numberColumn) }));
    const body = choices.pick([
      'SELECT * FROM w',
      `SELECT a.x, b.y FROM w a JOIN w b ON ${this.condition(scope, 1)}`,
      'SELECT count(*), sum(x) FROM w',
      `SELECT * FROM t0 WHERE id IN (SELECT x FROM w)`,
    ]);
    return { sql: `${head} ${body}` };
  }

  #recursive(): Statement {
    const word = this.choices.pick(['UNION ALL', 'UNION']);
    const bodies = [
      `WITH RECURSIVE n (i) AS (SELECT 1 ${word} SELECT i + 1 FROM n WHERE i < 4) SELECT i, i * 2 FROM n`,
      `WITH RECURSIVE c AS (SELECT id, r, 0 AS depth FROM t1 WHERE r IS NULL OR id = 1 ${word} SELECT t1.id, t1.r, c.depth + 1 FROM t1 JOIN c ON t1.r = c.id WHERE c.depth < 3) SELECT * FROM c`,
      `WITH RECURSIVE n AS (SELECT 0 AS i ${word} SELECT i + 1 FROM n WHERE i < 3) SELECT n.i, t0.id FROM n LEFT JOIN t0 ON t0.id = n.i`,
    ];
    return { sql: this.choices.pick(bodies) };
  }

  values(): Statement {
    if (this.dialect === 'mysql')
      return {
        sql: this.choices.pick([
          "SELECT * FROM (SELECT 1 AS a, 'x' AS b UNION ALL SELECT NULL, 'yy') v",
          'SELECT 1 + 1, NULL',
        ]),
      };
    return {
      sql: this.choices.pick([
        "VALUES (1, 'a'), (2, NULL)",
        'SELECT * FROM (VALUES (1, 1.5), (NULL, 2)) AS v (a, b)',
        'SELECT * FROM generate_series(1, 3) g',
        "SELECT * FROM unnest(ARRAY[1,2], ARRAY['a']) AS u (a, b)",
        'SELECT v.a, t0.id FROM t0 JOIN (VALUES (1), (2)) AS v (a) ON v.a = t0.id',
        'SELECT 1 AS x WHERE 1 = 0',
      ]),
    };
  }

  lateral(): Statement {
    const outer = this.choices.pick(this.tables);
    const inner = this.choices.pick(this.tables);
    const scope = [
      { alias: 'o', columns: outer.columns },
      { alias: 'i', columns: inner.columns },
    ];
    const body = this.choices.pick([
      `SELECT count(*) AS n, max(i.id) AS m FROM ${inner.name} i WHERE ${this.condition(scope, 1)}`,
      `SELECT i.id AS n, ${this.number(scope, 1)} AS m FROM ${inner.name} i WHERE ${this.condition(scope, 1)}`,
    ]);
    const join = this.choices.pick(['CROSS JOIN LATERAL', 'LEFT JOIN LATERAL', 'JOIN LATERAL']);
    return {
      sql: `SELECT o.id, l.n, l.m FROM ${outer.name} o ${join} (${body}) l${join.startsWith('CROSS') ? '' : ' ON true'}`,
    };
  }

  /** Values go as parameters whose types the server finds. */
  prepared(): Statement {
    const from = this.#from(this.tables.slice(0, 1));
    const { text, column } = this.anyColumn(from.scope);
    const literal = this.choices.pick(column.literals);
    const isPlain = literal.startsWith("'") || /^-?[\d.]+$/.test(literal);
    const place = (number: number): string => (this.dialect === 'postgres' ? `$${number}` : '?');
    const unquoted = isPlain ? literal.replaceAll("'", '') : '1';
    if (!isPlain || column.family === 'json') {
      return { sql: `SELECT * FROM ${from.text} WHERE ${from.scope[0]?.alias}.id > ${place(1)}`, values: ['0'] };
    }
    const forms = [
      `${text} = ${place(1)}`,
      `${text} >= ${place(1)}`,
      `${text} IN (${place(1)}, NULL)`,
      `coalesce(${text}, ${place(1)}) = ${text}`,
    ];
    const value = this.choices.rarely(6) ? null : unquoted;
    const columns = this.choices.pick(['*', text, `${this.number(from.scope, 1)}, ${text}`]);
    return { sql: `SELECT ${columns} FROM ${from.text} WHERE ${this.choices.pick(forms)}`, values: [value] };
  }

  #where({ scope }: From): string {
    return this.choices.rarely(3) ? '' : ` WHERE ${this.condition(scope, 2)}`;
  }

  #from(tables: readonly Table[] = this.tables): From {
    const first = this.#item(tables);
    let text = first.text;
    const items = [first.source];
    for (let more = this.choices.pick([0, 0, 1, 2]); more > 0; more--) {
      const { text: right, source } = this.#item(tables);
      const before = items[0]?.alias ?? '';
      items.push(source);
      const kinds = [
        'JOIN',
        'LEFT JOIN',
        'RIGHT JOIN',
        'CROSS JOIN',
        ...(this.dialect === 'postgres' ? ['FULL JOIN'] : []),
      ];
      const kind = this.choices.pick(kinds);
      if (kind === 'CROSS JOIN') {
        text = `${text} CROSS JOIN ${right}`;
        continue;
      }
      const equal = `${before}.${this.choices.pick(['id', 'r'])} = ${source.alias}.${this.choices.pick(['id', 'r'])}`;
      const on = kind !== 'FULL JOIN' && this.choices.rarely(3) ? `${equal} AND ${this.condition(items, 1)}` : equal;
      text = `${text} ${kind} ${right} ON ${on}`;
    }
    return { text, scope: items, keys: items.map(({ alias }) => `${alias}.id`) };
  }

  #item(tables: readonly Table[]): { readonly text: string; readonly source: Source } {
    const table = this.choices.pick(tables);
    const alias = this.alias();
    if (!this.choices.rarely(8)) return { text: `${table.name} ${alias}`, source: { alias, columns: table.columns } };
    const inner = { alias: table.name, columns: table.columns };
    const text = `(SELECT id, r FROM ${table.name} WHERE ${this.condition([inner], 1)}) ${alias}`;
    return { text, source: { alias, columns: ids } };
  }
}
