/**
 * The tables and statements of BenchBase's nine transactional benchmarks (cmu-db/benchbase, Apache-2.0), in the shapes that its procedures
 * send: `?` for parameters, which are `$1`, `$2`, ... for PostgreSQL. A small load, then each statement, in an order that finds its rows.
 */
import type { Dialect } from '../../src/sql/model/index.ts';
import { tpcc } from './benchbase-tpcc.ts';
import { type Benchmark, drop } from './benchmark.ts';

const numbered = (dialect: Dialect): string => (dialect === 'postgres' ? 'serial' : 'int NOT NULL AUTO_INCREMENT');
const real = (dialect: Dialect): string => (dialect === 'postgres' ? 'double precision' : 'double');
const bytes = (dialect: Dialect, length: number): string => (dialect === 'postgres' ? 'text' : `varbinary(${length})`);

const smallbank: Benchmark = {
  name: 'smallbank',
  tables: () => [
    ...drop('checking', 'savings', 'accounts'),
    'CREATE TABLE accounts (custid bigint NOT NULL, name varchar(64) NOT NULL, CONSTRAINT pk_accounts PRIMARY KEY (custid))',
    'CREATE INDEX idx_accounts_name ON accounts (name)',
    'CREATE TABLE savings (custid bigint NOT NULL, bal float NOT NULL, CONSTRAINT pk_savings PRIMARY KEY (custid), FOREIGN KEY (custid) REFERENCES accounts (custid))',
    'CREATE TABLE checking (custid bigint NOT NULL, bal float NOT NULL, CONSTRAINT pk_checking PRIMARY KEY (custid), FOREIGN KEY (custid) REFERENCES accounts (custid))',
    "INSERT INTO accounts VALUES (1, 'a'), (2, 'b')",
    'INSERT INTO savings VALUES (1, 100), (2, 200.5)',
    'INSERT INTO checking VALUES (1, 10), (2, 20.25)',
  ],
  steps: () => [
    ['SELECT * FROM accounts WHERE custid = ?', '1'],
    ['SELECT * FROM accounts WHERE name = ?', 'b'],
    ['SELECT bal FROM savings WHERE custid = ?', '1'],
    ['SELECT bal FROM checking WHERE custid = ?', '1'],
    ['UPDATE savings SET bal = bal + ? WHERE custid = ?', '1.5', '1'],
    ['UPDATE savings SET bal = bal - ? WHERE custid = ?', '0.25', '1'],
    ['UPDATE checking SET bal = 0.0 WHERE custid = ?', '1'],
    ['UPDATE checking SET bal = bal + ? WHERE custid = ?', '5', '2'],
    ['UPDATE checking SET bal = bal - ? WHERE custid = ?', '5', '9'],
    ['SELECT bal FROM savings WHERE custid = ?', '1'],
  ],
};

const voter: Benchmark = {
  name: 'voter',
  tables: () => [
    'DROP VIEW IF EXISTS v_votes_by_phone_number',
    'DROP VIEW IF EXISTS v_votes_by_contestant_number_state',
    ...drop('contestants', 'area_code_state', 'votes'),
    'CREATE TABLE contestants (contestant_number integer NOT NULL, contestant_name varchar(50) NOT NULL, PRIMARY KEY (contestant_number))',
    'CREATE TABLE area_code_state (area_code smallint NOT NULL, state varchar(2) NOT NULL, PRIMARY KEY (area_code))',
    'CREATE TABLE votes (vote_id bigint NOT NULL, phone_number bigint NOT NULL, state varchar(2) NOT NULL, contestant_number integer NOT NULL REFERENCES contestants (contestant_number), created timestamp NOT NULL)',
    'CREATE INDEX idx_votes_phone_number ON votes (phone_number)',
    'CREATE VIEW v_votes_by_phone_number (phone_number, num_votes) AS SELECT phone_number, COUNT(*) FROM votes GROUP BY phone_number',
    'CREATE VIEW v_votes_by_contestant_number_state (contestant_number, state, num_votes) AS SELECT contestant_number, state, COUNT(*) FROM votes GROUP BY contestant_number, state',
    "INSERT INTO contestants VALUES (1, 'Edwina Burnam'), (2, 'Tabatha Gehling')",
    "INSERT INTO area_code_state VALUES (907, 'AK'), (205, 'AL')",
  ],
  steps: () => [
    ['SELECT contestant_number FROM contestants WHERE contestant_number = ?', '1'],
    ['SELECT COUNT(*) FROM votes WHERE phone_number = ?', '9075551234'],
    ['SELECT state FROM area_code_state WHERE area_code = ?', '907'],
    [
      'INSERT INTO votes (vote_id, phone_number, state, contestant_number, created) VALUES (?, ?, ?, ?, NOW())',
      '1',
      '9075551234',
      'AK',
      '1',
    ],
    ['SELECT COUNT(*) FROM votes WHERE phone_number = ?', '9075551234'],
    ['SELECT * FROM v_votes_by_phone_number'],
    ['SELECT * FROM v_votes_by_contestant_number_state'],
  ],
};

const wikipedia: Benchmark = {
  name: 'wikipedia',
  tables: (dialect) => [
    ...(dialect === 'mysql'
      ? [
          'SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0',
          'SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0',
        ]
      : []),
    ...drop('watchlist', 'logging', 'recentchanges', 'revision', 'text', 'page_restrictions', 'page', 'useracct'),
    `CREATE TABLE useracct (user_id ${numbered(dialect)}, user_name varchar(255) NOT NULL DEFAULT '', user_real_name varchar(255) NOT NULL DEFAULT '', user_touched varchar(14) NOT NULL DEFAULT '', user_token char(32) NOT NULL DEFAULT '', user_registration varchar(14) DEFAULT NULL, user_editcount int DEFAULT NULL, PRIMARY KEY (user_id), UNIQUE (user_name))`,
    `CREATE TABLE page (page_id ${numbered(dialect)}, page_namespace int NOT NULL, page_title varchar(255) NOT NULL, page_restrictions varchar(255) NOT NULL, page_counter bigint NOT NULL DEFAULT '0', page_is_redirect smallint NOT NULL DEFAULT '0', page_is_new smallint NOT NULL DEFAULT '0', page_random ${real(dialect)} NOT NULL, page_touched ${bytes(dialect, 14)} NOT NULL, page_latest int NOT NULL, page_len int NOT NULL, PRIMARY KEY (page_id), UNIQUE (page_namespace, page_title))`,
    `CREATE TABLE page_restrictions (pr_page int NOT NULL, pr_type varchar(60) NOT NULL, pr_level varchar(60) NOT NULL, pr_cascade smallint NOT NULL, pr_user int DEFAULT NULL, pr_expiry varchar(14) DEFAULT NULL, pr_id ${numbered(dialect)}, PRIMARY KEY (pr_id), UNIQUE (pr_page, pr_type))`,
    `CREATE TABLE text (old_id ${numbered(dialect)}, old_text ${dialect === 'mysql' ? 'mediumtext' : 'text'} NOT NULL, old_flags varchar(255) NOT NULL, old_page int DEFAULT NULL, PRIMARY KEY (old_id))`,
    `CREATE TABLE revision (rev_id ${numbered(dialect)}, rev_page int NOT NULL, rev_text_id int NOT NULL, rev_comment varchar(1024) NOT NULL, rev_user int NOT NULL DEFAULT '0', rev_user_text varchar(255) NOT NULL DEFAULT '', rev_timestamp ${bytes(dialect, 14)} NOT NULL, rev_minor_edit smallint NOT NULL DEFAULT '0', rev_deleted smallint NOT NULL DEFAULT '0', rev_len int DEFAULT NULL, rev_parent_id int DEFAULT NULL, PRIMARY KEY (rev_id), UNIQUE (rev_page, rev_id))`,
    `CREATE TABLE recentchanges (rc_id ${numbered(dialect)}, rc_timestamp varchar(14) NOT NULL DEFAULT '', rc_cur_time varchar(14) NOT NULL DEFAULT '', rc_user int NOT NULL DEFAULT '0', rc_user_text varchar(255) NOT NULL, rc_namespace int NOT NULL DEFAULT '0', rc_title varchar(255) NOT NULL DEFAULT '', rc_comment varchar(255) NOT NULL DEFAULT '', rc_minor smallint NOT NULL DEFAULT '0', rc_bot smallint NOT NULL DEFAULT '0', rc_new smallint NOT NULL DEFAULT '0', rc_cur_id int NOT NULL DEFAULT '0', rc_this_oldid int NOT NULL DEFAULT '0', rc_last_oldid int NOT NULL DEFAULT '0', rc_type smallint NOT NULL DEFAULT '0', rc_moved_to_ns smallint NOT NULL DEFAULT '0', rc_moved_to_title varchar(255) NOT NULL DEFAULT '', rc_ip varchar(40) NOT NULL DEFAULT '', rc_old_len int DEFAULT NULL, rc_new_len int DEFAULT NULL, PRIMARY KEY (rc_id))`,
    `CREATE TABLE logging (log_id ${numbered(dialect)}, log_type varchar(32) NOT NULL, log_action varchar(32) NOT NULL, log_timestamp varchar(14) NOT NULL DEFAULT '19700101000000', log_user int NOT NULL DEFAULT '0', log_namespace int NOT NULL DEFAULT '0', log_title varchar(255) NOT NULL DEFAULT '', log_comment varchar(255) NOT NULL DEFAULT '', log_params text NOT NULL, log_deleted smallint NOT NULL DEFAULT '0', log_user_text varchar(255) NOT NULL DEFAULT '', log_page int DEFAULT NULL, PRIMARY KEY (log_id))`,
    "CREATE TABLE watchlist (wl_user int NOT NULL, wl_namespace int NOT NULL DEFAULT 0, wl_title varchar(255) NOT NULL DEFAULT '', wl_notificationtimestamp varchar(14) DEFAULT NULL, UNIQUE (wl_user, wl_namespace, wl_title), FOREIGN KEY (wl_user) REFERENCES useracct (user_id) ON DELETE CASCADE)",
    ...(dialect === 'mysql'
      ? ['SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS', 'SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS']
      : []),
    "INSERT INTO useracct (user_name, user_editcount) VALUES ('ann', 0), ('bob', 3)",
    "INSERT INTO page (page_namespace, page_title, page_restrictions, page_random, page_touched, page_latest, page_len) VALUES (0, 'Main', '', 0.5, '20240101000000', 1, 10)",
    ...(dialect === 'postgres' ? ["SELECT setval(pg_get_serial_sequence('useracct', 'user_id'), 2)"] : []),
  ],
  steps: (dialect) => [
    ['SELECT * FROM useracct WHERE user_id = ? LIMIT 1', '1'],
    ['SELECT * FROM page WHERE page_namespace = ? AND page_title = ? LIMIT 1', '0', 'Main'],
    ['SELECT * FROM page_restrictions WHERE pr_page = ?', '1'],
    [
      `INSERT INTO text (old_page, old_text, old_flags) VALUES (?, ?, 'utf-8')${dialect === 'postgres' ? ' RETURNING old_id' : ''}`,
      '1',
      'words',
    ],
    [
      `INSERT INTO revision (rev_page, rev_text_id, rev_comment, rev_minor_edit, rev_user, rev_user_text, rev_timestamp, rev_deleted, rev_len, rev_parent_id) VALUES (?, ?, ?, ?, ?, ?, ?, 0, ?, ?)${dialect === 'postgres' ? ' RETURNING rev_id' : ''}`,
      '1',
      '1',
      'c',
      '0',
      '1',
      'ann',
      '20240101000000',
      '5',
      '0',
    ],
    [
      'UPDATE page SET page_latest = ?, page_touched = ?, page_is_new = 0, page_is_redirect = 0, page_len = ? WHERE page_id = ?',
      '1',
      '20240102000000',
      '5',
      '1',
    ],
    [
      'SELECT * FROM page, revision WHERE (page_id = rev_page) AND rev_page = ? AND page_id = ? AND (rev_id = page_latest) LIMIT 1',
      '1',
      '1',
    ],
    ['SELECT old_text, old_flags FROM text WHERE old_id = ? LIMIT 1', '1'],
    [
      'INSERT INTO recentchanges (rc_timestamp, rc_cur_time, rc_namespace, rc_title, rc_type, rc_minor, rc_cur_id, rc_user, rc_user_text, rc_comment, rc_this_oldid, rc_last_oldid, rc_bot, rc_moved_to_ns, rc_moved_to_title, rc_ip, rc_old_len, rc_new_len) VALUES (?, ?, ?, ?, 0, 0, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, ?)',
      '20240101',
      '20240101',
      '0',
      'Main',
      '1',
      '1',
      'ann',
      'c',
      '1',
      '0',
      '',
      '1.2.3.4',
      '0',
      '5',
    ],
    [
      'INSERT INTO watchlist (wl_user, wl_namespace, wl_title, wl_notificationtimestamp) VALUES (?, ?, ?, NULL)',
      '2',
      '0',
      'Main',
    ],
    [
      'SELECT wl_user FROM watchlist WHERE wl_title = ? AND wl_namespace = ? AND wl_user != ? AND wl_notificationtimestamp IS NULL',
      'Main',
      '0',
      '1',
    ],
    [
      'UPDATE watchlist SET wl_notificationtimestamp = ? WHERE wl_title = ? AND wl_namespace = ? AND wl_user = ?',
      '20240101',
      'Main',
      '0',
      '2',
    ],
    [
      "INSERT INTO logging (log_type, log_action, log_timestamp, log_user, log_user_text, log_namespace, log_title, log_page, log_comment, log_params) VALUES ('patrol', 'patrol', ?, ?, ?, ?, ?, ?, '', ?)",
      '20240101',
      '1',
      'ann',
      '0',
      'Main',
      '1',
      '1',
    ],
    ['UPDATE useracct SET user_editcount=user_editcount+1 WHERE user_id = ?', '1'],
    ['UPDATE useracct SET user_touched = ? WHERE user_id = ?', '20240101', '1'],
    ['DELETE FROM watchlist WHERE wl_user = ? AND wl_namespace = ? AND wl_title = ?', '2', '0', 'Main'],
    ['SELECT user_editcount FROM useracct WHERE user_id = ?', '1'],
  ],
};

const tatp: Benchmark = {
  name: 'tatp',
  tables: () => [
    ...drop('call_forwarding', 'special_facility', 'access_info', 'subscriber'),
    'CREATE TABLE subscriber (s_id integer NOT NULL PRIMARY KEY, sub_nbr varchar(15) NOT NULL UNIQUE, bit_1 smallint, hex_1 smallint, byte2_1 smallint, msc_location integer, vlr_location integer)',
    'CREATE TABLE access_info (s_id integer NOT NULL, ai_type smallint NOT NULL, data1 smallint, data2 smallint, data3 varchar(3), data4 varchar(5), PRIMARY KEY (s_id, ai_type), FOREIGN KEY (s_id) REFERENCES subscriber (s_id))',
    'CREATE TABLE special_facility (s_id integer NOT NULL, sf_type smallint NOT NULL, is_active smallint NOT NULL, error_cntrl smallint, data_a smallint, data_b varchar(5), PRIMARY KEY (s_id, sf_type), FOREIGN KEY (s_id) REFERENCES subscriber (s_id))',
    'CREATE TABLE call_forwarding (s_id integer NOT NULL, sf_type smallint NOT NULL, start_time smallint NOT NULL, end_time smallint, numberx varchar(15), PRIMARY KEY (s_id, sf_type, start_time), FOREIGN KEY (s_id, sf_type) REFERENCES special_facility (s_id, sf_type))',
    "INSERT INTO subscriber VALUES (1, '000000000000001', 1, 2, 3, 4, 5)",
    "INSERT INTO access_info VALUES (1, 1, 2, 3, 'abc', 'abcde')",
    "INSERT INTO special_facility VALUES (1, 1, 1, 0, 5, 'abcde')",
  ],
  steps: () => [
    ['SELECT * FROM subscriber WHERE s_id = ?', '1'],
    ['SELECT s_id FROM subscriber WHERE sub_nbr = ?', '000000000000001'],
    ['SELECT data1, data2, data3, data4 FROM access_info WHERE s_id = ? AND ai_type = ?', '1', '1'],
    ['SELECT sf_type FROM special_facility WHERE s_id = ?', '1'],
    ['INSERT INTO call_forwarding VALUES (?, ?, ?, ?, ?)', '1', '1', '0', '8', '123'],
    [
      'SELECT cf.numberx FROM special_facility sf, call_forwarding cf WHERE sf.s_id = ? AND sf.sf_type = ? AND sf.is_active = 1 AND cf.s_id = sf.s_id AND cf.sf_type = sf.sf_type AND cf.start_time <= ? AND cf.end_time > ?',
      '1',
      '1',
      '0',
      '4',
    ],
    ['UPDATE subscriber SET vlr_location = ? WHERE sub_nbr = ?', '9', '000000000000001'],
    ['UPDATE subscriber SET bit_1 = ? WHERE s_id = ?', '0', '1'],
    ['UPDATE special_facility SET data_a = ? WHERE s_id = ? AND sf_type = ?', '7', '1', '1'],
    ['DELETE FROM call_forwarding WHERE s_id = ? AND sf_type = ? AND start_time = ?', '1', '1', '0'],
  ],
};

const attributes = (name: string, count: number): string =>
  Array.from({ length: count }, (_, i) => `${name}_iattr${String(i).padStart(2, '0')} bigint DEFAULT 0`).join(', ');

const seats: Benchmark = {
  name: 'seats',
  tables: () => [
    ...drop('reservation', 'flight', 'frequent_flyer', 'customer', 'airline', 'airport_distance', 'airport', 'country'),
    'CREATE TABLE country (co_id bigint NOT NULL, co_name varchar(64) NOT NULL, co_code_2 varchar(2) NOT NULL, co_code_3 varchar(3) NOT NULL, PRIMARY KEY (co_id))',
    'CREATE TABLE airport (ap_id bigint NOT NULL, ap_code varchar(3) NOT NULL, ap_name varchar(128) NOT NULL, ap_city varchar(64) NOT NULL, ap_longitude float, ap_latitude float, ap_co_id bigint NOT NULL REFERENCES country (co_id), PRIMARY KEY (ap_id))',
    'CREATE TABLE airport_distance (d_ap_id0 bigint NOT NULL, d_ap_id1 bigint NOT NULL, d_distance float NOT NULL, PRIMARY KEY (d_ap_id0, d_ap_id1), FOREIGN KEY (d_ap_id0) REFERENCES airport (ap_id))',
    `CREATE TABLE airline (al_id bigint NOT NULL, al_iata_code varchar(3), al_name varchar(128) NOT NULL, al_co_id bigint NOT NULL, ${attributes('al', 2)}, PRIMARY KEY (al_id), FOREIGN KEY (al_co_id) REFERENCES country (co_id))`,
    `CREATE TABLE customer (c_id varchar(128) NOT NULL, c_id_str varchar(64) NOT NULL UNIQUE, c_base_ap_id bigint, c_balance float NOT NULL, c_sattr00 varchar(32), ${attributes('c', 20)}, PRIMARY KEY (c_id), FOREIGN KEY (c_base_ap_id) REFERENCES airport (ap_id))`,
    `CREATE TABLE frequent_flyer (ff_c_id varchar(128) NOT NULL, ff_al_id bigint NOT NULL, ff_c_id_str varchar(64) NOT NULL, ff_sattr00 varchar(32), ${attributes('ff', 16)}, PRIMARY KEY (ff_c_id, ff_al_id), FOREIGN KEY (ff_c_id) REFERENCES customer (c_id), FOREIGN KEY (ff_al_id) REFERENCES airline (al_id))`,
    'CREATE TABLE flight (f_id varchar(128) NOT NULL, f_al_id bigint NOT NULL, f_depart_ap_id bigint NOT NULL, f_depart_time timestamp NOT NULL, f_arrive_ap_id bigint NOT NULL, f_arrive_time timestamp NOT NULL, f_status bigint NOT NULL, f_base_price float NOT NULL, f_seats_total bigint NOT NULL, f_seats_left bigint NOT NULL, PRIMARY KEY (f_id), FOREIGN KEY (f_al_id) REFERENCES airline (al_id), FOREIGN KEY (f_depart_ap_id) REFERENCES airport (ap_id))',
    'CREATE INDEX f_depart_time_idx ON flight (f_depart_time)',
    `CREATE TABLE reservation (r_id bigint NOT NULL, r_c_id varchar(128) NOT NULL, r_f_id varchar(128) NOT NULL, r_seat bigint NOT NULL, r_price float NOT NULL, ${attributes('r', 9)}, UNIQUE (r_f_id, r_seat), PRIMARY KEY (r_id, r_c_id, r_f_id), FOREIGN KEY (r_c_id) REFERENCES customer (c_id), FOREIGN KEY (r_f_id) REFERENCES flight (f_id))`,
    "INSERT INTO country VALUES (1, 'Here', 'HR', 'HRE')",
    "INSERT INTO airport VALUES (1, 'AAA', 'a', 'A', 1.5, 2.5, 1), (2, 'BBB', 'b', 'B', 3.5, 4.5, 1)",
    'INSERT INTO airport_distance VALUES (1, 2, 120.5)',
    "INSERT INTO airline (al_id, al_iata_code, al_name, al_co_id) VALUES (1, 'XX', 'Air', 1)",
    "INSERT INTO customer (c_id, c_id_str, c_base_ap_id, c_balance, c_sattr00) VALUES ('1', 'one', 1, 100, 'x'), ('2', 'two', 2, 50, '')",
    "INSERT INTO frequent_flyer (ff_c_id, ff_al_id, ff_c_id_str, ff_sattr00) VALUES ('1', 1, 'one', 'f')",
    "INSERT INTO flight VALUES ('f1', 1, 1, '2024-05-01 10:00:00', 2, '2024-05-01 12:00:00', 0, 300, 150, 140)",
  ],
  steps: () => [
    [
      'SELECT D_AP_ID0, D_AP_ID1, D_DISTANCE FROM airport_distance WHERE D_AP_ID0 = ? AND D_DISTANCE <= ? ORDER BY D_DISTANCE ASC',
      '1',
      '200',
    ],
    [
      'SELECT F_ID, F_AL_ID, F_DEPART_AP_ID, F_DEPART_TIME, F_ARRIVE_AP_ID, F_ARRIVE_TIME, AL_NAME FROM flight, airline WHERE F_DEPART_AP_ID = ? AND F_DEPART_TIME >= ? AND F_DEPART_TIME <= ? AND F_AL_ID = AL_ID AND F_ARRIVE_AP_ID IN (?, ?)',
      '1',
      '2024-05-01 00:00:00',
      '2024-05-02 00:00:00',
      '2',
      '3',
    ],
    [
      'SELECT AP_CODE, AP_NAME, AP_CITY, AP_LONGITUDE, AP_LATITUDE, CO_ID, CO_NAME, CO_CODE_2, CO_CODE_3 FROM airport, country WHERE AP_ID = ? AND AP_CO_ID = CO_ID',
      '1',
    ],
    [
      'SELECT F_ID, F_AL_ID, F_BASE_PRICE, F_SEATS_TOTAL, F_SEATS_LEFT, (F_BASE_PRICE + (F_BASE_PRICE * (1 - (F_SEATS_LEFT / F_SEATS_TOTAL)))) AS F_PRICE FROM flight WHERE F_ID = ?',
      'f1',
    ],
    ['SELECT R_ID, R_F_ID, R_SEAT FROM reservation WHERE R_F_ID = ?', 'f1'],
    ['SELECT F_AL_ID, F_SEATS_LEFT, airline.* FROM flight, airline WHERE F_ID = ? AND F_AL_ID = AL_ID', 'f1'],
    ['SELECT R_ID FROM reservation WHERE R_F_ID = ? and R_SEAT = ?', 'f1', '3'],
    ['SELECT R_ID FROM reservation WHERE R_F_ID = ? AND R_C_ID = ?', 'f1', '1'],
    ['SELECT C_BASE_AP_ID, C_BALANCE, C_SATTR00 FROM customer WHERE C_ID = ?', '1'],
    [
      'INSERT INTO reservation (R_ID, R_C_ID, R_F_ID, R_SEAT, R_PRICE, R_IATTR00, R_IATTR01, R_IATTR02, R_IATTR03, R_IATTR04, R_IATTR05, R_IATTR06, R_IATTR07, R_IATTR08) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      '1',
      '1',
      'f1',
      '3',
      '310.5',
      '1',
      '2',
      '3',
      '4',
      '5',
      '6',
      '7',
      '8',
      '9',
    ],
    [
      'INSERT INTO reservation (R_ID, R_C_ID, R_F_ID, R_SEAT, R_PRICE) VALUES (?, ?, ?, ?, ?)',
      '2',
      '2',
      'f1',
      '3',
      '310.5',
    ],
    ['UPDATE flight SET F_SEATS_LEFT = F_SEATS_LEFT - 1 WHERE F_ID = ?', 'f1'],
    [
      'UPDATE customer SET C_IATTR10 = C_IATTR10 + 1, C_IATTR11 = C_IATTR11 + 1, C_IATTR12 = ?, C_IATTR13 = ? WHERE C_ID = ?',
      '5',
      '6',
      '1',
    ],
    [
      'UPDATE frequent_flyer SET FF_IATTR10 = FF_IATTR10 + 1, FF_IATTR11 = ?, FF_IATTR12 = ? WHERE FF_C_ID = ? AND FF_AL_ID = ?',
      '1',
      '2',
      '1',
      '1',
    ],
    ['SELECT C_ID FROM customer WHERE C_ID_STR = ?', 'one'],
    ['SELECT C_ID, FF_AL_ID FROM customer, frequent_flyer WHERE FF_C_ID_STR = ? AND FF_C_ID = C_ID', 'one'],
    [
      'SELECT C_SATTR00, C_IATTR10, F_SEATS_LEFT, R_ID, R_SEAT, R_PRICE FROM customer, flight, reservation WHERE C_ID = ? AND C_ID = R_C_ID AND F_ID = ? AND F_ID = R_F_ID',
      '1',
      'f1',
    ],
    ['UPDATE reservation SET R_SEAT = ? WHERE R_ID = ? AND R_C_ID = ? AND R_F_ID = ?', '4', '1', '1', 'f1'],
    ["SELECT COUNT(*) FROM customer WHERE C_SATTR00 != ''"],
    ['DELETE FROM reservation WHERE R_ID = ? AND R_C_ID = ? AND R_F_ID = ?', '1', '1', 'f1'],
    ['UPDATE flight SET F_SEATS_LEFT = F_SEATS_LEFT + 1 WHERE F_ID = ?', 'f1'],
    [
      'UPDATE customer SET C_BALANCE = C_BALANCE + ?, C_IATTR00 = ?, C_IATTR10 = C_IATTR10 - 1, C_IATTR11 = C_IATTR10 - 1 WHERE C_ID = ?',
      '10.5',
      '3',
      '1',
    ],
    ['SELECT C_BALANCE, C_IATTR10, C_IATTR11 FROM customer WHERE C_ID = ?', '1'],
    ['SELECT * FROM airline WHERE AL_ID = ?', '1'],
    ['SELECT C_ID, C_IATTR00 FROM customer ORDER BY C_ID LIMIT 1'],
  ],
};

const quoted = (dialect: Dialect, name: string): string => (dialect === 'postgres' ? `"${name}"` : name);

const twitter: Benchmark = {
  name: 'twitter',
  tables: (dialect) => [
    ...drop('followers', 'follows', 'added_tweets', 'tweets', 'user_profiles'),
    'CREATE TABLE user_profiles (uid int NOT NULL, name varchar(255) DEFAULT NULL, email varchar(255) DEFAULT NULL, partitionid int DEFAULT NULL, partitionid2 smallint DEFAULT NULL, followers int DEFAULT NULL, PRIMARY KEY (uid))',
    'CREATE INDEX idx_user_followers ON user_profiles (followers)',
    'CREATE TABLE followers (f1 int NOT NULL DEFAULT 0, f2 int NOT NULL DEFAULT 0, PRIMARY KEY (f1, f2), FOREIGN KEY (f1) REFERENCES user_profiles (uid))',
    'CREATE TABLE follows (f1 int NOT NULL DEFAULT 0, f2 int NOT NULL DEFAULT 0, PRIMARY KEY (f1, f2), FOREIGN KEY (f1) REFERENCES user_profiles (uid))',
    'CREATE TABLE tweets (id bigint NOT NULL, uid int NOT NULL, text char(140) NOT NULL, createdate timestamp NULL DEFAULT NULL, PRIMARY KEY (id), FOREIGN KEY (uid) REFERENCES user_profiles (uid))',
    `CREATE TABLE added_tweets (id ${dialect === 'postgres' ? 'serial' : 'bigint NOT NULL AUTO_INCREMENT'}, uid int NOT NULL REFERENCES user_profiles (uid), text char(140) NOT NULL, createdate timestamp NULL DEFAULT NULL, PRIMARY KEY (id))`,
    "INSERT INTO user_profiles (uid, name, email) VALUES (1, 'a', 'a@x'), (2, 'b', 'b@x')",
    'INSERT INTO followers VALUES (1, 2)',
    'INSERT INTO follows VALUES (2, 1)',
    "INSERT INTO tweets VALUES (1, 1, 'hello', NULL), (2, 2, 'there', NULL)",
  ],
  steps: (dialect) => {
    const q = (name: string): string => quoted(dialect, name);
    return [
      [`SELECT * FROM ${q('tweets')} WHERE id = ?`, '1'],
      [`SELECT f2 FROM ${q('follows')} WHERE f1 = ? LIMIT 20`, '2'],
      [`SELECT * FROM ${q('tweets')} WHERE uid IN (?, ?)`, '1', '9'],
      [`SELECT f2 FROM ${q('followers')} WHERE f1 = ? LIMIT 20`, '1'],
      [`SELECT uid, name FROM ${q('user_profiles')} WHERE uid IN (?, ?)`, '1', '2'],
      [`SELECT * FROM ${q('tweets')} WHERE uid = ? LIMIT 10`, '1'],
      [
        dialect === 'postgres'
          ? 'INSERT INTO "added_tweets" VALUES (default, ?, ?, ?)'
          : 'INSERT INTO added_tweets (uid, text, createdate) VALUES (?, ?, ?)',
        '1',
        'new',
        '2024-01-01 00:00:00',
      ],
      [`SELECT * FROM ${q('added_tweets')}`],
    ];
  },
};

const epinions: Benchmark = {
  name: 'epinions',
  tables: () => [
    ...drop('trust', 'review_rating', 'review', 'item', 'useracct'),
    'CREATE TABLE useracct (u_id int NOT NULL, name varchar(128) NOT NULL, email varchar(128) NOT NULL, creation_date timestamp NULL DEFAULT NULL, PRIMARY KEY (u_id))',
    'CREATE TABLE item (i_id int NOT NULL, title varchar(128) NOT NULL, description varchar(512) DEFAULT NULL, creation_date timestamp NULL DEFAULT NULL, PRIMARY KEY (i_id))',
    'CREATE TABLE review (a_id int NOT NULL, u_id int NOT NULL REFERENCES useracct (u_id), i_id int NOT NULL REFERENCES item (i_id), rating int DEFAULT NULL, rank1 int DEFAULT NULL, creation_date timestamp NULL DEFAULT NULL)',
    'CREATE INDEX idx_rating_uid ON review (u_id)',
    'CREATE TABLE review_rating (u_id int NOT NULL, a_id int NOT NULL, rating int NOT NULL, status int NOT NULL, creation_date timestamp NULL DEFAULT NULL, last_mod_date timestamp NULL DEFAULT NULL, type int DEFAULT NULL, vertical_id int DEFAULT NULL)',
    'CREATE TABLE trust (source_u_id int NOT NULL, target_u_id int NOT NULL, trust int NOT NULL, creation_date timestamp NULL DEFAULT NULL)',
    "INSERT INTO useracct VALUES (1, 'a', 'a@x', NULL), (2, 'b', 'b@x', NULL)",
    "INSERT INTO item VALUES (1, 'thing', 'd', NULL)",
    "INSERT INTO review VALUES (1, 1, 1, 5, NULL, '2024-01-02 00:00:00'), (2, 2, 1, 2, NULL, '2024-01-01 00:00:00')",
    'INSERT INTO trust VALUES (1, 2, 1, NULL)',
  ],
  steps: () => [
    ['SELECT avg(rating) FROM review r, trust t WHERE r.u_id=t.target_u_id AND r.i_id=? AND t.source_u_id=?', '1', '1'],
    ['SELECT avg(rating) FROM review r WHERE r.i_id=?', '1'],
    [
      'SELECT * FROM review r, item i WHERE i.i_id = r.i_id and r.i_id=? ORDER BY rating DESC, r.creation_date DESC LIMIT 10',
      '1',
    ],
    [
      'SELECT * FROM review r, useracct u WHERE u.u_id = r.u_id AND r.u_id=? ORDER BY rating DESC, r.creation_date DESC LIMIT 10',
      '1',
    ],
    ['SELECT * FROM trust t WHERE t.source_u_id=?', '1'],
    ['SELECT * FROM review r WHERE r.i_id=? ORDER BY creation_date DESC', '1'],
    ['UPDATE item SET title = ? WHERE i_id=?', 'new', '1'],
    ['UPDATE review SET rating = ? WHERE i_id=? AND u_id=?', '3', '1', '2'],
    ['UPDATE trust SET trust = ? WHERE source_u_id=? AND target_u_id=?', '0', '1', '2'],
    ['UPDATE useracct SET name = ? WHERE u_id=?', 'c', '1'],
  ],
};

const fields = Array.from({ length: 10 }, (_, i) => `FIELD${i + 1}`);

const ycsb: Benchmark = {
  name: 'ycsb',
  tables: () => [
    ...drop('usertable'),
    `CREATE TABLE usertable (ycsb_key int PRIMARY KEY, ${fields.map((name) => `${name.toLowerCase()} text`).join(', ')})`,
  ],
  steps: () => [
    [`INSERT INTO usertable VALUES (?, ${fields.map(() => '?').join(', ')})`, '1', ...fields],
    [`INSERT INTO usertable VALUES (?, ${fields.map(() => '?').join(', ')})`, '2', ...fields],
    ['SELECT * FROM usertable WHERE YCSB_KEY = ?', '1'],
    ['SELECT * FROM usertable WHERE YCSB_KEY = ? FOR UPDATE', '1'],
    [
      `UPDATE usertable SET ${fields.map((name) => `${name} = ?`).join(', ')} WHERE YCSB_KEY = ?`,
      ...fields.map(() => 'x'),
      '1',
    ],
    ['SELECT * FROM usertable WHERE YCSB_KEY > ? AND YCSB_KEY < ?', '0', '9'],
    ['DELETE FROM usertable WHERE YCSB_KEY = ?', '2'],
  ],
};

export const benchmarks: readonly Benchmark[] = [
  tpcc,
  smallbank,
  voter,
  wikipedia,
  tatp,
  seats,
  twitter,
  epinions,
  ycsb,
];
