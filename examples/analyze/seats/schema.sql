-- The tables of SEATS.
CREATE TABLE country (
  co_id bigint PRIMARY KEY,
  co_name varchar(64) NOT NULL,
  co_code_2 varchar(2) NOT NULL,
  co_code_3 varchar(3) NOT NULL
);
CREATE TABLE airport (
  ap_id bigint PRIMARY KEY,
  ap_code varchar(3) NOT NULL,
  ap_name varchar(128) NOT NULL,
  ap_city varchar(64) NOT NULL,
  ap_longitude float NOT NULL,
  ap_latitude float NOT NULL,
  ap_co_id bigint NOT NULL REFERENCES country
);
CREATE TABLE airport_distance (
  d_ap_id0 bigint NOT NULL REFERENCES airport,
  d_ap_id1 bigint NOT NULL REFERENCES airport,
  d_distance float NOT NULL,
  PRIMARY KEY (d_ap_id0, d_ap_id1)
);
CREATE TABLE airline (
  al_id bigint PRIMARY KEY,
  al_name varchar(128) NOT NULL,
  al_co_id bigint NOT NULL REFERENCES country
);
CREATE TABLE customer (
  c_id bigint PRIMARY KEY,
  c_id_str varchar(64) NOT NULL UNIQUE,
  c_base_ap_id bigint NOT NULL REFERENCES airport,
  c_balance float NOT NULL,
  c_sattr00 varchar(32) NOT NULL,
  c_sattr02 varchar(8) NOT NULL,
  c_sattr04 varchar(8) NOT NULL,
  c_iattr00 bigint NOT NULL,
  c_iattr01 bigint NOT NULL,
  c_iattr02 bigint NOT NULL,
  c_iattr04 bigint NOT NULL,
  c_iattr06 bigint NOT NULL,
  c_iattr10 bigint NOT NULL,
  c_iattr11 bigint NOT NULL,
  c_iattr12 bigint NOT NULL,
  c_iattr13 bigint NOT NULL,
  c_iattr14 bigint NOT NULL,
  c_iattr15 bigint NOT NULL
);
CREATE TABLE frequent_flyer (
  ff_c_id bigint NOT NULL REFERENCES customer,
  ff_al_id bigint NOT NULL REFERENCES airline,
  ff_c_id_str varchar(64) NOT NULL,
  ff_iattr00 bigint NOT NULL,
  ff_iattr01 bigint NOT NULL,
  ff_iattr10 bigint NOT NULL,
  ff_iattr11 bigint NOT NULL,
  ff_iattr12 bigint NOT NULL,
  ff_iattr13 bigint NOT NULL,
  ff_iattr14 bigint NOT NULL,
  PRIMARY KEY (ff_c_id, ff_al_id)
);
CREATE TABLE flight (
  f_id bigint PRIMARY KEY,
  f_al_id bigint NOT NULL REFERENCES airline,
  f_depart_ap_id bigint NOT NULL REFERENCES airport,
  f_depart_time timestamp NOT NULL,
  f_arrive_ap_id bigint NOT NULL REFERENCES airport,
  f_arrive_time timestamp NOT NULL,
  f_status bigint NOT NULL,
  f_base_price float NOT NULL,
  f_seats_total bigint NOT NULL,
  f_seats_left bigint NOT NULL
);
CREATE TABLE reservation (
  r_id bigint NOT NULL,
  r_c_id bigint NOT NULL REFERENCES customer,
  r_f_id bigint NOT NULL REFERENCES flight,
  r_seat bigint NOT NULL,
  r_price float NOT NULL,
  r_iattr00 bigint NOT NULL,
  r_iattr01 bigint NOT NULL,
  r_iattr02 bigint NOT NULL,
  r_iattr03 bigint NOT NULL,
  PRIMARY KEY (r_id, r_c_id, r_f_id),
  UNIQUE (r_f_id, r_seat)
);
