/** What programs call a handle of Knex that other code gave them. */
export const namesHandle = /^(?:db|knex|trx|tx|database|connection)$/i;
