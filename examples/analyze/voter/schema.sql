-- The tables of the Voter benchmark.
CREATE TABLE contestants (
  contestant_number int PRIMARY KEY,
  contestant_name varchar(50) NOT NULL
);
CREATE TABLE area_code_state (
  area_code smallint PRIMARY KEY,
  state varchar(2) NOT NULL
);
CREATE TABLE votes (
  vote_id bigint PRIMARY KEY,
  phone_number bigint NOT NULL,
  state varchar(2) NOT NULL,
  contestant_number int NOT NULL REFERENCES contestants,
  created timestamp NOT NULL
);
CREATE INDEX votes_phone_number ON votes (phone_number);
