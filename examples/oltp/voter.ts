/** Voter with the statements of BenchBase: one caller, at most two votes (A14). */
import { type Client, numberOf, transaction } from './client.ts';
import type { Random } from './random.ts';

const votesMax = 2;
const phone = 1;
const contestants = 3;

export const schema: readonly string[] = [
  'CREATE TABLE contestants (contestant_number integer NOT NULL, contestant_name varchar(50) NOT NULL, PRIMARY KEY (contestant_number))',
  'CREATE TABLE area_code_state (area_code smallint NOT NULL, state varchar(2) NOT NULL, PRIMARY KEY (area_code))',
  `CREATE TABLE votes (vote_id bigint NOT NULL, phone_number bigint NOT NULL, state varchar(2) NOT NULL, contestant_number integer NOT NULL,
   created timestamp NOT NULL, FOREIGN KEY (contestant_number) REFERENCES contestants (contestant_number))`,
  ...Array.from({ length: contestants }, (_, i) => `INSERT INTO contestants VALUES (${i + 1}, 'contestant${i + 1}')`),
  `INSERT INTO area_code_state VALUES (1, 'XX')`,
];

export const voterAssertions: Readonly<Record<string, string>> = {
  A14: `SELECT phone_number FROM votes GROUP BY phone_number HAVING COUNT(*) > ${votesMax}`,
};

export async function anyTransaction(client: Client, random: Random): Promise<void> {
  const contestant = random.integer(1, contestants);
  const vote = random.integer(1, 1_000_000_000);
  await transaction(client, async () => {
    const [known] = await client.query(
      'SELECT contestant_number FROM contestants WHERE contestant_number = ?',
      contestant,
    );
    if (known === undefined) return;
    const [count] = await client.query('SELECT COUNT(*) AS votes FROM votes WHERE phone_number = ?', phone);
    if (numberOf(count, 'votes') >= votesMax) return;
    const [area] = await client.query('SELECT state FROM area_code_state WHERE area_code = ?', 1);
    await client.change(
      'INSERT INTO votes (vote_id, phone_number, state, contestant_number, created) VALUES (?, ?, ?, ?, NOW())',
      vote,
      phone,
      area?.['state'] ?? 'XX',
      contestant,
    );
  });
}
