/** A document that two people edit: who saves second is told so, and reads it again. */
import { Pool } from 'pg';

const pool = new Pool();

export async function append(id: number, text: string): Promise<'saved' | 'missing' | 'changed meanwhile'> {
  const { rows } = await pool.query('SELECT body, version FROM documents WHERE id = $1', [id]);
  const [document] = rows;
  if (document === undefined) return 'missing';
  const { rowCount } = await pool.query(
    'UPDATE documents SET body = $2, version = version + 1 WHERE id = $1 AND version = $3',
    [id, document.body + text, document.version],
  );
  return rowCount === 1 ? 'saved' : 'changed meanwhile';
}
