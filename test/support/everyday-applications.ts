/** Small applications as many have them, with what their conditions ask of rows: a state, a capacity, a code, a time. */

export interface EverydayApplication {
  readonly name: string;
  readonly schema: string;
  /** Of `app.ts`. */
  readonly source: string;
  readonly verdict: 'satisfied' | 'violated' | 'unknown';
  /** What is confirmed of transactions and of units: their names and the change that mends it. */
  readonly confirmed: readonly (readonly [transactions: string, change: string])[];
}

/** What all of them begin with: 8 lines. */
export const database = `import { Pool, type PoolClient } from 'pg';
const pool = new Pool();
async function tx<T>(run: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try { await client.query('BEGIN'); const result = await run(client); await client.query('COMMIT'); return result; }
  catch (error) { await client.query('ROLLBACK'); throw error; } finally { client.release(); }
}

`;

const jobs =
  "CREATE TABLE jobs (id serial PRIMARY KEY, payload text NOT NULL, state text NOT NULL CHECK (state IN ('ready', 'running', 'done')), worker text)";
const addJob = `export async function addJob(payload: string): Promise<void> {
  await pool.query("INSERT INTO jobs (payload, state) VALUES ($1, 'ready')", [payload]);
}`;

export const everydayApplications: readonly EverydayApplication[] = [
  {
    name: 'a job queue',
    schema: jobs,
    source: `${database}export async function takeJob(worker: string): Promise<number | null> {
  return tx(async (client) => {
    const { rows } = await client.query("SELECT id, payload FROM jobs WHERE state = 'ready' ORDER BY id LIMIT 1");
    const [job] = rows;
    if (job === undefined) return null;
    await client.query("UPDATE jobs SET state = 'running', worker = $2 WHERE id = $1", [job.id, worker]);
    return job.id;
  });
}
${addJob}`,
    verdict: 'violated',
    confirmed: [['takeJob', 'FOR UPDATE SKIP LOCKED at app.ts:11']],
  },
  {
    name: 'a job queue with SKIP LOCKED',
    schema: jobs,
    source: `${database}export async function takeJob(worker: string): Promise<number | null> {
  return tx(async (client) => {
    const { rows } = await client.query("SELECT id, payload FROM jobs WHERE state = 'ready' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED");
    const [job] = rows;
    if (job === undefined) return null;
    await client.query("UPDATE jobs SET state = 'running', worker = $2 WHERE id = $1", [job.id, worker]);
    return job.id;
  });
}
${addJob}`,
    verdict: 'satisfied',
    confirmed: [],
  },
  {
    name: 'a job queue in one statement',
    schema: jobs,
    source: `${database}export async function takeJob(worker: string): Promise<number | null> {
  const { rows } = await pool.query("UPDATE jobs SET state = 'running', worker = $1 WHERE id = (SELECT id FROM jobs WHERE state = 'ready' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id", [worker]);
  return rows[0]?.id ?? null;
}`,
    verdict: 'satisfied',
    confirmed: [],
  },
  {
    name: 'a job queue with SKIP LOCKED that counts',
    schema: `CREATE TABLE jobs (id serial PRIMARY KEY, payload text NOT NULL, state text NOT NULL CHECK (state IN ('ready', 'running', 'done')), worker text);
      CREATE TABLE counters (id int PRIMARY KEY, taken int NOT NULL)`,
    source: `${database}export async function takeJob(worker: string): Promise<number | null> {
  return tx(async (client) => {
    const { rows } = await client.query("SELECT id, payload FROM jobs WHERE state = 'ready' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED");
    const [job] = rows;
    if (job === undefined) return null;
    await client.query("UPDATE jobs SET state = 'running', worker = $2 WHERE id = $1", [job.id, worker]);
    const { rows: [found] } = await client.query("SELECT taken FROM counters WHERE id = 1");
    await client.query("UPDATE counters SET taken = $1 WHERE id = 1", [found.taken + 1]);
    return job.id;
  });
}`,
    verdict: 'violated',
    confirmed: [['takeJob', 'FOR UPDATE at app.ts:15']],
  },
  {
    name: 'an outbox',
    schema: `CREATE TABLE outbox (id bigserial PRIMARY KEY, body text NOT NULL, published_at timestamptz);
      CREATE TABLE deliveries (id bigserial PRIMARY KEY, message bigint NOT NULL, body text NOT NULL)`,
    source: `${database}export async function publish(): Promise<void> {
  await tx(async (client) => {
    const { rows } = await client.query("SELECT id, body FROM outbox WHERE published_at IS NULL ORDER BY id LIMIT 10");
    for (const row of rows) {
      await client.query("INSERT INTO deliveries (message, body) VALUES ($1, $2)", [row.id, row.body]);
      await client.query("UPDATE outbox SET published_at = now() WHERE id = $1", [row.id]);
    }
  });
}`,
    verdict: 'violated',
    confirmed: [['publish', 'FOR UPDATE SKIP LOCKED at app.ts:11']],
  },
  {
    name: 'invite codes',
    schema: `CREATE TABLE teams (id serial PRIMARY KEY, name text NOT NULL);
      CREATE TABLE invites (id serial PRIMARY KEY, code text NOT NULL, team_id int NOT NULL REFERENCES teams, used_by int);
      CREATE TABLE members (team_id int NOT NULL REFERENCES teams, user_id int NOT NULL, PRIMARY KEY (team_id, user_id))`,
    source: `${database}export async function acceptInvite(code: string, user: number): Promise<void> {
  await tx(async (client) => {
    const { rows } = await client.query("SELECT id, team_id FROM invites WHERE code = $1 AND used_by IS NULL", [code]);
    if (rows.length === 0) throw new Error("no such invite");
    await client.query("UPDATE invites SET used_by = $2 WHERE id = $1", [rows[0].id, user]);
    await client.query("INSERT INTO members (team_id, user_id) VALUES ($1, $2)", [rows[0].team_id, user]);
  });
}`,
    verdict: 'violated',
    confirmed: [['acceptInvite', 'acceptInvite at serializable, with a retry on 40001']],
  },
  {
    name: 'coupons',
    schema: `CREATE TABLE coupons (id serial PRIMARY KEY, code text NOT NULL UNIQUE, uses int NOT NULL DEFAULT 0 CHECK (uses >= 0), max_uses int NOT NULL CHECK (max_uses > 0), active boolean NOT NULL DEFAULT true);
      CREATE TABLE redemptions (id serial PRIMARY KEY, coupon_id int NOT NULL REFERENCES coupons, order_id int NOT NULL)`,
    source: `${database}export async function redeem(code: string, order: number): Promise<boolean> {
  return tx(async (client) => {
    const { rows } = await client.query("SELECT id, uses, max_uses FROM coupons WHERE code = $1 AND active", [code]);
    const [coupon] = rows;
    if (!coupon || coupon.uses >= coupon.max_uses) return false;
    await client.query("UPDATE coupons SET uses = uses + 1 WHERE id = $1", [coupon.id]);
    await client.query("INSERT INTO redemptions (coupon_id, order_id) VALUES ($1, $2)", [coupon.id, order]);
    return true;
  });
}`,
    verdict: 'violated',
    confirmed: [['redeem', 'FOR UPDATE at app.ts:11']],
  },
  {
    name: 'bookings up to a capacity',
    schema: `CREATE TABLE events (id int PRIMARY KEY, capacity int NOT NULL CHECK (capacity BETWEEN 1 AND 50));
      CREATE TYPE booking_status AS ENUM ('confirmed', 'cancelled');
      CREATE TABLE bookings (id serial PRIMARY KEY, event_id int NOT NULL REFERENCES events, person text NOT NULL, status booking_status NOT NULL)`,
    source: `${database}export async function book(event: number, person: string): Promise<void> {
  await tx(async (client) => {
    const { rows: [found] } = await client.query("SELECT capacity FROM events WHERE id = $1", [event]);
    if (!found) throw new Error("no such event");
    const { rows: [taken] } = await client.query("SELECT count(*)::int AS n FROM bookings WHERE event_id = $1 AND status = 'confirmed'", [event]);
    if (taken.n >= found.capacity) throw new Error("full");
    await client.query("INSERT INTO bookings (event_id, person, status) VALUES ($1, $2, 'confirmed')", [event, person]);
  });
}`,
    verdict: 'violated',
    confirmed: [['book', 'FOR UPDATE at app.ts:11']],
  },
  {
    name: 'names that are looked for before they are inserted',
    schema: `CREATE TABLE users (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), username varchar(30) NOT NULL, email text NOT NULL, deleted_at timestamptz)`,
    source: `${database}export async function register(name: string, email: string): Promise<void> {
  await tx(async (client) => {
    const { rows } = await client.query("SELECT 1 FROM users WHERE lower(username) = lower($1) AND deleted_at IS NULL", [name]);
    if (rows.length > 0) throw new Error("taken");
    await client.query("INSERT INTO users (username, email) VALUES ($1, $2)", [name, email]);
  });
}`,
    verdict: 'violated',
    confirmed: [['register', 'register at serializable, with a retry on 40001']],
  },
  {
    name: 'transfers between active accounts',
    schema: `CREATE TABLE accounts (id int PRIMARY KEY, balance numeric(12, 2) NOT NULL CHECK (balance >= 0), status varchar(10) NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'frozen', 'closed')))`,
    source: `${database}export async function transfer(from: number, to: number, amount: number): Promise<void> {
  await tx(async (client) => {
    const { rows: [source] } = await client.query("SELECT balance FROM accounts WHERE id = $1 AND status = 'active'", [from]);
    const { rows: [target] } = await client.query("SELECT balance FROM accounts WHERE id = $1 AND status = 'active'", [to]);
    if (!source || !target) throw new Error("no such account");
    if (source.balance < amount) throw new Error("not enough");
    await client.query("UPDATE accounts SET balance = $2 WHERE id = $1", [from, source.balance - amount]);
    await client.query("UPDATE accounts SET balance = $2 WHERE id = $1", [to, target.balance + amount]);
  });
}`,
    verdict: 'violated',
    confirmed: [['transfer', 'FOR UPDATE at app.ts:11 and FOR UPDATE at app.ts:12']],
  },
  {
    name: 'soft deletes',
    schema: `CREATE TABLE authors (id int PRIMARY KEY, name text NOT NULL, deleted_at timestamptz);
      CREATE TABLE posts (id serial PRIMARY KEY, author_id int NOT NULL REFERENCES authors, text text NOT NULL, deleted_at timestamptz)`,
    source: `${database}export async function close(account: number): Promise<void> {
  await tx(async (client) => {
    const { rows } = await client.query("SELECT id FROM posts WHERE author_id = $1 AND deleted_at IS NULL", [account]);
    if (rows.length > 0) throw new Error("has posts");
    await client.query("UPDATE authors SET deleted_at = now() WHERE id = $1", [account]);
  });
}
export async function write(account: number, text: string): Promise<void> {
  await tx(async (client) => {
    const { rows } = await client.query("SELECT id FROM authors WHERE id = $1 AND deleted_at IS NULL", [account]);
    if (rows.length === 0) throw new Error("no such author");
    await client.query("INSERT INTO posts (author_id, text) VALUES ($1, $2)", [account, text]);
  });
}`,
    verdict: 'violated',
    confirmed: [
      [
        'close with write',
        'close at serializable, with a retry on 40001 and write at serializable, with a retry on 40001',
      ],
    ],
  },
  {
    name: 'idempotency keys',
    schema: `CREATE TABLE customers (id int PRIMARY KEY, balance int NOT NULL);
      CREATE TABLE payments (id serial PRIMARY KEY, idempotency_key text NOT NULL, customer_id int NOT NULL REFERENCES customers, amount int NOT NULL CHECK (amount > 0), state text NOT NULL)`,
    source: `${database}export async function charge(key: string, customer: number, amount: number): Promise<void> {
  await tx(async (client) => {
    const { rows } = await client.query("SELECT id FROM payments WHERE idempotency_key = $1", [key]);
    if (rows.length > 0) return;
    await client.query("INSERT INTO payments (idempotency_key, customer_id, amount, state) VALUES ($1, $2, $3, 'captured')", [key, customer, amount]);
    await client.query("UPDATE customers SET balance = balance - $2 WHERE id = $1", [customer, amount]);
  });
}`,
    verdict: 'violated',
    confirmed: [['charge', 'charge at serializable, with a retry on 40001']],
  },
  {
    name: 'unique idempotency keys',
    schema: `CREATE TABLE customers (id int PRIMARY KEY, balance int NOT NULL);
      CREATE TABLE payments (id serial PRIMARY KEY, idempotency_key text NOT NULL UNIQUE, customer_id int NOT NULL REFERENCES customers, amount int NOT NULL CHECK (amount > 0), state text NOT NULL)`,
    source: `${database}export async function charge(key: string, customer: number, amount: number): Promise<void> {
  await tx(async (client) => {
    const { rows } = await client.query("SELECT id FROM payments WHERE idempotency_key = $1", [key]);
    if (rows.length > 0) return;
    await client.query("INSERT INTO payments (idempotency_key, customer_id, amount, state) VALUES ($1, $2, $3, 'captured')", [key, customer, amount]);
    await client.query("UPDATE customers SET balance = balance - $2 WHERE id = $1", [customer, amount]);
  });
}`,
    verdict: 'satisfied',
    confirmed: [],
  },
  {
    name: 'reservations of stock',
    schema: `CREATE TABLE stock (id serial PRIMARY KEY, sku text NOT NULL, warehouse_id int NOT NULL, quantity int NOT NULL CHECK (quantity >= 0), UNIQUE (sku, warehouse_id));
      CREATE TABLE reservations (id serial PRIMARY KEY, stock_id int NOT NULL REFERENCES stock, order_id int NOT NULL, quantity int NOT NULL)`,
    source: `${database}export async function reserve(sku: string, quantity: number, order: number): Promise<void> {
  await tx(async (client) => {
    const { rows } = await client.query("SELECT id, warehouse_id, quantity FROM stock WHERE sku = $1 AND quantity >= $2 ORDER BY warehouse_id LIMIT 1", [sku, quantity]);
    if (rows.length === 0) throw new Error("not enough");
    const [found] = rows;
    await client.query("UPDATE stock SET quantity = $2 WHERE id = $1", [found.id, found.quantity - quantity]);
    await client.query("INSERT INTO reservations (stock_id, order_id, quantity) VALUES ($1, $2, $3)", [found.id, order, quantity]);
  });
}`,
    verdict: 'violated',
    confirmed: [['reserve', 'reserve at serializable, with a retry on 40001']],
  },
  {
    name: 'shifts of doctors',
    schema: `CREATE TABLE shifts (shift_id int NOT NULL, doctor_id int NOT NULL, on_call boolean NOT NULL, PRIMARY KEY (shift_id, doctor_id))`,
    source: `${database}export async function offDuty(doctor: number, shift: number): Promise<void> {
  await tx(async (client) => {
    const { rows: [on] } = await client.query("SELECT count(*) AS n FROM shifts WHERE shift_id = $1 AND on_call = true", [shift]);
    if (Number(on.n) < 2) throw new Error("the last one");
    await client.query("UPDATE shifts SET on_call = false WHERE shift_id = $1 AND doctor_id = $2", [shift, doctor]);
  });
}`,
    verdict: 'violated',
    confirmed: [['offDuty', 'offDuty at serializable, with a retry on 40001']],
  },
  {
    name: 'bookings of rooms',
    schema: `CREATE TABLE bookings (id serial PRIMARY KEY, room_id int NOT NULL, starts_at timestamptz NOT NULL, ends_at timestamptz NOT NULL, CHECK (starts_at < ends_at))`,
    source: `${database}export async function bookRoom(room: number, from: string, to: string): Promise<void> {
  await tx(async (client) => {
    const { rows } = await client.query("SELECT id FROM bookings WHERE room_id = $1 AND starts_at < $3 AND ends_at > $2", [room, from, to]);
    if (rows.length > 0) throw new Error("taken");
    await client.query("INSERT INTO bookings (room_id, starts_at, ends_at) VALUES ($1, $2, $3)", [room, from, to]);
  });
}`,
    verdict: 'violated',
    confirmed: [['bookRoom', 'bookRoom at serializable, with a retry on 40001']],
  },
  {
    name: 'conditions through joins and subqueries',
    schema: `CREATE TABLE teams (id int PRIMARY KEY, kind text NOT NULL);
      CREATE TABLE agents (id int PRIMARY KEY, team_id int NOT NULL REFERENCES teams, open_tickets int NOT NULL, email text NOT NULL, status text NOT NULL);
      CREATE TABLE tickets (id int PRIMARY KEY, agent_id int REFERENCES agents);
      CREATE TABLE customers (id int PRIMARY KEY, vip boolean NOT NULL, tier text NOT NULL);
      CREATE TABLE orders (id int PRIMARY KEY, customer_id int NOT NULL REFERENCES customers, total int NOT NULL, state text NOT NULL);
      CREATE TABLE bonuses (id serial PRIMARY KEY, order_id int NOT NULL REFERENCES orders, amount int NOT NULL)`,
    source: `${database}export async function assign(ticket: number): Promise<void> {
  await tx(async (client) => {
    const { rows } = await client.query("SELECT a.id FROM agents a JOIN teams t ON t.id = a.team_id WHERE t.kind = 'support' AND a.open_tickets BETWEEN 0 AND 4 AND a.email LIKE 'support-%' AND a.status <> 'away' ORDER BY a.open_tickets, a.id LIMIT 1");
    if (rows.length === 0) throw new Error("none free");
    await client.query("UPDATE agents SET open_tickets = open_tickets + 1 WHERE id = $1", [rows[0].id]);
    await client.query("UPDATE tickets SET agent_id = $2 WHERE id = $1", [ticket, rows[0].id]);
  });
}
export async function markPaid(order: number): Promise<void> {
  await tx(async (client) => {
    const { rows } = await client.query("SELECT o.id, o.total FROM orders o WHERE o.id = $1 AND EXISTS (SELECT 1 FROM customers c WHERE c.id = o.customer_id AND c.vip = true AND c.tier IN ('gold', 'platinum')) AND o.state IN ('open', 'partial')", [order]);
    if (rows.length === 0) return;
    await client.query("INSERT INTO bonuses (order_id, amount) VALUES ($1, $2)", [order, rows[0].total]);
    await client.query("UPDATE orders SET state = 'paid' WHERE id = $1", [order]);
  });
}`,
    verdict: 'violated',
    confirmed: [
      ['assign', 'assign at serializable, with a retry on 40001'],
      ['markPaid', 'markPaid at repeatable read, with a retry on 40001'],
    ],
  },
  {
    name: 'transfers between accounts by a number that is no key',
    schema: `CREATE TABLE accounts (id serial PRIMARY KEY, number text NOT NULL, balance int NOT NULL CHECK (balance >= 0), closed_at timestamptz)`,
    source: `${database}export async function send(from: string, to: string, amount: number): Promise<void> {
  await tx(async (client) => {
    const { rows: [source] } = await client.query("SELECT id, balance FROM accounts WHERE number = $1 AND closed_at IS NULL", [from]);
    const { rows: [target] } = await client.query("SELECT id, balance FROM accounts WHERE number = $1 AND closed_at IS NULL", [to]);
    if (!source || !target || source.balance < amount) throw new Error("it cannot be sent");
    await client.query("UPDATE accounts SET balance = $2 WHERE id = $1", [source.id, source.balance - amount]);
    await client.query("UPDATE accounts SET balance = $2 WHERE id = $1", [target.id, target.balance + amount]);
  });
}`,
    verdict: 'violated',
    confirmed: [['send', 'send at serializable, with a retry on 40001']],
  },
];
