/** Small applications that look before they write: at a flag that is NULL, a sum, a number of uses, a name that is unique. */
import { database, type EverydayApplication } from './everyday-applications.ts';

/** Without transactions: 3 lines. */
const poolOnly = `import { Pool } from 'pg';
const pool = new Pool();

`;

export const checkingApplications: readonly EverydayApplication[] = [
  {
    name: 'a task that is claimed where NULL says that it is free',
    schema: 'CREATE TABLE tasks (id serial PRIMARY KEY, title text NOT NULL, claimed_by int)',
    source: `${database}export async function claim(task: number, user: number): Promise<boolean> {
  return tx(async (client) => {
    const { rows } = await client.query("SELECT claimed_by FROM tasks WHERE id = $1", [task]);
    if (rows[0].claimed_by !== null) return false;
    await client.query("UPDATE tasks SET claimed_by = $2 WHERE id = $1", [task, user]);
    return true;
  });
}`,
    verdict: 'violated',
    confirmed: [['claim', 'FOR UPDATE at app.ts:11']],
  },
  {
    name: 'a task that is claimed without a transaction: the final state is that of the last claim alone, but both wrote',
    schema: `CREATE TABLE users (id int PRIMARY KEY);
      CREATE TABLE tasks (id serial PRIMARY KEY, title text NOT NULL, claimed_by int REFERENCES users)`,
    source: `${poolOnly}export async function claim(task: number, user: number): Promise<void> {
  const { rows } = await pool.query("SELECT * FROM tasks WHERE id = $1", [task]);
  if (!rows[0]) throw new Error("no such task");
  if (rows[0].claimed_by) throw new Error("taken");
  await pool.query("UPDATE tasks SET claimed_by = $2 WHERE id = $1", [task, user]);
}`,
    verdict: 'violated',
    confirmed: [['claim', 'one transaction around claim and FOR UPDATE at app.ts:5']],
  },
  {
    name: 'a message that is marked as read: two that do so write the same',
    schema: 'CREATE TABLE messages (id int PRIMARY KEY, body text NOT NULL, is_read boolean NOT NULL)',
    source: `${poolOnly}export async function open(message: number): Promise<string> {
  const { rows: [found] } = await pool.query("SELECT body, is_read FROM messages WHERE id = $1", [message]);
  if (!found.is_read) await pool.query("UPDATE messages SET is_read = true WHERE id = $1", [message]);
  return found.body;
}`,
    verdict: 'unknown',
    confirmed: [],
  },
  {
    name: 'a daily limit on a sum of withdrawals with a state',
    schema: `CREATE TABLE withdrawals (id serial PRIMARY KEY, user_id int NOT NULL, amount numeric(10, 2) NOT NULL, status text NOT NULL DEFAULT 'pending')`,
    source: `${poolOnly}const limit = 1000;
export async function withdraw(user: number, amount: number): Promise<void> {
  const { rows } = await pool.query("SELECT COALESCE(SUM(amount), 0) AS total FROM withdrawals WHERE user_id = $1 AND status IN ('pending', 'done')", [user]);
  if (parseFloat(rows[0].total) + amount > limit) throw new Error("over the limit");
  await pool.query("INSERT INTO withdrawals (user_id, amount) VALUES ($1, $2)", [user, amount]);
}`,
    verdict: 'violated',
    confirmed: [['withdraw', 'one transaction around withdraw and withdraw at serializable, with a retry on 40001']],
  },
  {
    name: 'a credit limit beside a sum of open orders',
    schema: `CREATE TABLE accounts (id int PRIMARY KEY, credit_limit int NOT NULL);
      CREATE TABLE orders (id serial PRIMARY KEY, account_id int NOT NULL REFERENCES accounts, amount int NOT NULL CHECK (amount > 0), status text NOT NULL)`,
    source: `${poolOnly}export async function order(account: number, amount: number): Promise<void> {
  const { rows: [limit] } = await pool.query("SELECT credit_limit FROM accounts WHERE id = $1", [account]);
  const { rows: [open] } = await pool.query("SELECT coalesce(sum(amount), 0) AS total FROM orders WHERE account_id = $1 AND status = 'open'", [account]);
  if (Number(open.total) + amount > limit.credit_limit) throw new Error("over the limit");
  await pool.query("INSERT INTO orders (account_id, amount, status) VALUES ($1, $2, 'open')", [account, amount]);
}`,
    verdict: 'violated',
    confirmed: [['order', 'one transaction around order and order at serializable, with a retry on 40001']],
  },
  {
    name: 'bookings up to a capacity, counted under the lock of what is booked',
    schema: `CREATE TABLE rooms (id serial PRIMARY KEY, seats int NOT NULL);
      CREATE TABLE bookings (id serial PRIMARY KEY, room_id int NOT NULL REFERENCES rooms, guest text NOT NULL)`,
    source: `${database}export async function book(room: number, guest: string): Promise<void> {
  await tx(async (client) => {
    const { rows: [found] } = await client.query("SELECT * FROM rooms WHERE id = $1 FOR UPDATE", [room]);
    if (!found) throw new Error("no such room");
    const { rows: [booked] } = await client.query("SELECT count(*)::int AS n FROM bookings WHERE room_id = $1", [room]);
    if (booked.n >= found.seats) throw new Error("full");
    await client.query("INSERT INTO bookings (room_id, guest) VALUES ($1, $2)", [room, guest]);
  });
}
export async function addRoom(seats: number): Promise<void> {
  await pool.query("INSERT INTO rooms (seats) VALUES ($1)", [seats]);
}`,
    verdict: 'satisfied',
    confirmed: [],
  },
  {
    name: 'bookings up to a capacity, counted under the lock of another row',
    schema: `CREATE TABLE rooms (id serial PRIMARY KEY, seats int NOT NULL);
      CREATE TABLE bookings (id serial PRIMARY KEY, room_id int NOT NULL, guest text NOT NULL)`,
    source: `${database}export async function book(room: number, other: number, guest: string): Promise<void> {
  await tx(async (client) => {
    await client.query("SELECT * FROM rooms WHERE id = $1 FOR UPDATE", [other]);
    const { rows: [booked] } = await client.query("SELECT count(*)::int AS n FROM bookings WHERE room_id = $1", [room]);
    if (booked.n >= 2) throw new Error("full");
    await client.query("INSERT INTO bookings (room_id, guest) VALUES ($1, $2)", [room, guest]);
  });
}
export async function count(room: number): Promise<void> {
  await tx(async (client) => {
    await client.query("SELECT * FROM rooms WHERE id = $1 FOR UPDATE", [room]);
    await client.query("SELECT count(*)::int AS n FROM bookings WHERE room_id = $1", [room]);
  });
}`,
    verdict: 'violated',
    confirmed: [['book', 'book at serializable, with a retry on 40001']],
  },
  {
    name: 'a transfer that locks both accounts in the order of their keys',
    schema: 'CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL)',
    source: `${database}export async function transfer(from: number, to: number, amount: number): Promise<void> {
  await tx(async (client) => {
    const { rows } = await client.query("SELECT id, balance FROM accounts WHERE id IN ($1, $2) ORDER BY id FOR UPDATE", [from, to]);
    const payer = rows.find((row) => row.id === from);
    if (payer === undefined || payer.balance < amount) throw new Error("too little");
    await client.query("UPDATE accounts SET balance = balance - $2 WHERE id = $1", [from, amount]);
    await client.query("UPDATE accounts SET balance = balance + $2 WHERE id = $1", [to, amount]);
  });
}`,
    verdict: 'satisfied',
    confirmed: [],
  },
  {
    name: 'five devices at most',
    schema: 'CREATE TABLE devices (id serial PRIMARY KEY, owner int NOT NULL, name text NOT NULL)',
    source: `${poolOnly}export async function addDevice(owner: number, name: string): Promise<void> {
  const { rows: [found] } = await pool.query("SELECT count(*)::int AS n FROM devices WHERE owner = $1", [owner]);
  if (found.n >= 5) throw new Error("too many");
  await pool.query("INSERT INTO devices (owner, name) VALUES ($1, $2)", [owner, name]);
}`,
    verdict: 'violated',
    confirmed: [['addDevice', 'one transaction around addDevice and addDevice at serializable, with a retry on 40001']],
  },
  {
    name: 'a coupon whose uses are counted in the statement that writes them, and checked with one more before',
    schema: `CREATE TABLE coupons (code text PRIMARY KEY, uses int NOT NULL DEFAULT 0, max_uses int, expires_at timestamptz);
      CREATE TABLE redemptions (id serial PRIMARY KEY, code text NOT NULL REFERENCES coupons, user_id int NOT NULL, created_at timestamptz NOT NULL DEFAULT now())`,
    source: `${database}export async function redeem(code: string, user: number): Promise<void> {
  const { rows: [coupon] } = await pool.query("SELECT * FROM coupons WHERE code = $1", [code]);
  if (!coupon) throw new Error("no such coupon");
  if (coupon.max_uses !== null && coupon.uses + 1 > coupon.max_uses) throw new Error("used up");
  await tx(async (client) => {
    await client.query("INSERT INTO redemptions (code, user_id) VALUES ($1, $2)", [code, user]);
    await client.query("UPDATE coupons SET uses = uses + 1 WHERE code = $1", [code]);
  });
}`,
    verdict: 'violated',
    confirmed: [['redeem', 'one transaction around redeem and FOR UPDATE at app.ts:10']],
  },
  {
    name: 'a name that is unique: of two that register it, one gets 23505',
    schema: 'CREATE TABLE users (id serial PRIMARY KEY, email text NOT NULL UNIQUE, name text NOT NULL)',
    source: `${database}export async function register(email: string, name: string): Promise<number> {
  return tx(async (client) => {
    const { rows } = await client.query("SELECT id FROM users WHERE email = $1", [email]);
    if (rows.length > 0) throw new Error("taken");
    const { rows: [made] } = await client.query("INSERT INTO users (email, name) VALUES ($1, $2) RETURNING id", [email, name]);
    return made.id;
  });
}
export async function registerAlone(email: string, name: string): Promise<void> {
  const { rows } = await pool.query("SELECT id FROM users WHERE email = $1", [email]);
  if (rows.length > 0) throw new Error("taken");
  await pool.query("INSERT INTO users (email, name) VALUES ($1, $2)", [email, name]);
}`,
    verdict: 'satisfied',
    confirmed: [],
  },
  {
    name: 'a name that is not unique: two that register it make two users',
    schema: 'CREATE TABLE users (id serial PRIMARY KEY, email text NOT NULL, name text NOT NULL)',
    source: `${poolOnly}export async function register(email: string, name: string): Promise<void> {
  const { rows } = await pool.query("SELECT id FROM users WHERE email = $1", [email]);
  if (rows.length > 0) throw new Error("taken");
  await pool.query("INSERT INTO users (email, name) VALUES ($1, $2)", [email, name]);
}`,
    verdict: 'violated',
    confirmed: [['register', 'one transaction around register and register at serializable, with a retry on 40001']],
  },
  {
    name: 'a name that is unique, and whose user may be removed: between the check and the insert, another may have come and gone',
    schema: 'CREATE TABLE users (email text PRIMARY KEY, name text NOT NULL)',
    source: `${database}export async function register(email: string, name: string): Promise<void> {
  await tx(async (client) => {
    const { rows } = await client.query("SELECT name FROM users WHERE email = $1", [email]);
    if (rows.length > 0) throw new Error("taken");
    await client.query("INSERT INTO users (email, name) VALUES ($1, $2)", [email, name]);
  });
}
export async function remove(email: string): Promise<void> {
  await pool.query("DELETE FROM users WHERE email = $1", [email]);
}`,
    verdict: 'unknown',
    confirmed: [],
  },
  {
    name: 'an order with its lines, and a page that shows it',
    schema: `CREATE TABLE orders (id serial PRIMARY KEY, customer text NOT NULL);
      CREATE TABLE lines (id serial PRIMARY KEY, order_id int NOT NULL REFERENCES orders, sku text NOT NULL, quantity int NOT NULL)`,
    source: `${database}export async function place(customer: string, lines: { sku: string; quantity: number }[]): Promise<number> {
  return tx(async (client) => {
    const { rows: [order] } = await client.query('INSERT INTO orders (customer) VALUES ($1) RETURNING id AS "orderId"', [customer]);
    for (const line of lines) await client.query("INSERT INTO lines (order_id, sku, quantity) VALUES ($1, $2, $3)", [order.orderId, line.sku, line.quantity]);
    return order.orderId;
  });
}
export async function show(order: number): Promise<unknown> {
  const { rows } = await pool.query("SELECT * FROM orders o JOIN lines l ON l.order_id = o.id WHERE o.id = $1", [order]);
  return rows;
}`,
    verdict: 'satisfied',
    confirmed: [],
  },
];
