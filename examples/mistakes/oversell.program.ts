/** Oversell, with Kysely: two orders read the stock of one product, and each writes what it has computed. */
import { type Generated, Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { sqlProgram } from 'moirai';
import { type Connection, onPostgres } from './clients.ts';

interface Product {
  readonly id: string;
  readonly sku: string;
  readonly name: string;
  readonly description: string;
  readonly price_cents: number;
  readonly currency: string;
  readonly stock: number;
  readonly weight_grams: number;
  readonly is_listed: boolean;
  readonly warehouse: string;
}

interface Shop {
  readonly products: Product;
  readonly orders: { readonly id: Generated<number>; readonly product_id: string; readonly quantity: number };
}

const lamp = '6f1b1a52-6f1d-4f2b-9c39-0d6f2f0a7c11';

async function order({ connect }: Connection, quantity: number): Promise<string> {
  const db = new Kysely<Shop>({
    dialect: new PostgresDialect({ pool: new pg.Pool({ user: 'app', stream: connect, max: 1 }) }),
  });
  try {
    return await db.transaction().execute(async (t) => {
      const product = await t.selectFrom('products').selectAll().where('id', '=', lamp).executeTakeFirstOrThrow();
      if (product.stock < quantity) return 'sold out';
      await t
        .updateTable('products')
        .set({ stock: product.stock - quantity })
        .where('id', '=', lamp)
        .execute();
      await t.insertInto('orders').values({ product_id: lamp, quantity }).execute();
      return 'ordered';
    });
  } finally {
    await db.destroy();
  }
}

export default sqlProgram({
  dialect: 'postgres',
  schema: `
    CREATE TABLE products (
      id uuid PRIMARY KEY, sku text NOT NULL, name text NOT NULL, description text NOT NULL, price_cents int NOT NULL,
      currency text NOT NULL, stock int NOT NULL, weight_grams int NOT NULL, is_listed boolean NOT NULL, warehouse text NOT NULL
    );
    CREATE TABLE orders (id serial PRIMARY KEY, product_id uuid NOT NULL REFERENCES products, quantity int NOT NULL);
    INSERT INTO products VALUES ('${lamp}', 'L-1', 'lamp', 'A lamp.', 4900, 'EUR', 3, 800, true, 'Berlin');
  `,
  sessions: { alice: (connection) => order(connection, 2), bob: (connection) => order(connection, 2) },
  invariant: (end) =>
    onPostgres(end, async (client) => {
      const { rows } = await client.query('SELECT coalesce(sum(quantity), 0)::int AS sold FROM orders');
      return rows[0].sold <= 3 || `${rows[0].sold} of 3 lamps were sold`;
    }),
});
