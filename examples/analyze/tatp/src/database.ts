import { Kysely, PostgresDialect, type Transaction } from 'kysely';
import { Pool } from 'pg';

interface Tables {
  readonly subscriber: {
    readonly s_id: number;
    readonly sub_nbr: string;
    readonly bit_1: number;
    readonly msc_location: number;
    readonly vlr_location: number;
  };
  readonly access_info: {
    readonly s_id: number;
    readonly ai_type: number;
    readonly data1: number;
    readonly data2: number;
    readonly data3: string;
    readonly data4: string;
  };
  readonly special_facility: {
    readonly s_id: number;
    readonly sf_type: number;
    readonly is_active: number;
    readonly data_a: number;
  };
  readonly call_forwarding: {
    readonly s_id: number;
    readonly sf_type: number;
    readonly start_time: number;
    readonly end_time: number;
    readonly numberx: string;
  };
}

export const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: new Pool() }) });

/** Of the subscriber with this number. */
export async function subscriberOf(transaction: Transaction<Tables>, number: string): Promise<number> {
  const { s_id } = await transaction
    .selectFrom('subscriber')
    .select('s_id')
    .where('sub_nbr', '=', number)
    .executeTakeFirstOrThrow();
  return s_id;
}
