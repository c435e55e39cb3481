-- The tables of the Wikipedia benchmark that its transactions use.
CREATE TABLE useracct (
  user_id int AUTO_INCREMENT PRIMARY KEY,
  user_name varchar(255) NOT NULL UNIQUE,
  user_touched varchar(14) NOT NULL,
  user_editcount int NOT NULL
);
CREATE TABLE user_groups (
  ug_user int NOT NULL,
  ug_group varchar(16) NOT NULL,
  PRIMARY KEY (ug_user, ug_group),
  FOREIGN KEY (ug_user) REFERENCES useracct (user_id)
);
CREATE TABLE ipblocks (
  ipb_id int AUTO_INCREMENT PRIMARY KEY,
  ipb_address varchar(255) NOT NULL,
  ipb_user int NOT NULL,
  ipb_reason varchar(255) NOT NULL
);
CREATE TABLE page (
  page_id int AUTO_INCREMENT PRIMARY KEY,
  page_namespace int NOT NULL,
  page_title varchar(255) NOT NULL,
  page_is_redirect smallint NOT NULL,
  page_is_new smallint NOT NULL,
  page_touched varchar(14) NOT NULL,
  page_latest int NOT NULL,
  page_len int NOT NULL,
  UNIQUE KEY page_name (page_namespace, page_title)
);
CREATE TABLE page_restrictions (
  pr_id int AUTO_INCREMENT PRIMARY KEY,
  pr_page int NOT NULL,
  pr_type varchar(60) NOT NULL,
  pr_level varchar(60) NOT NULL,
  FOREIGN KEY (pr_page) REFERENCES page (page_id)
);
CREATE TABLE text (
  old_id int AUTO_INCREMENT PRIMARY KEY,
  old_text varchar(1000) NOT NULL,
  old_flags varchar(30) NOT NULL,
  old_page int NOT NULL
);
CREATE TABLE revision (
  rev_id int AUTO_INCREMENT PRIMARY KEY,
  rev_page int NOT NULL,
  rev_text_id int NOT NULL,
  rev_comment varchar(255) NOT NULL,
  rev_user int NOT NULL,
  rev_user_text varchar(255) NOT NULL,
  rev_timestamp varchar(14) NOT NULL,
  rev_minor_edit smallint NOT NULL,
  rev_len int NOT NULL,
  rev_parent_id int NOT NULL
);
CREATE TABLE recentchanges (
  rc_id int AUTO_INCREMENT PRIMARY KEY,
  rc_timestamp varchar(14) NOT NULL,
  rc_user int NOT NULL,
  rc_user_text varchar(255) NOT NULL,
  rc_namespace int NOT NULL,
  rc_title varchar(255) NOT NULL,
  rc_comment varchar(255) NOT NULL,
  rc_cur_id int NOT NULL,
  rc_this_oldid int NOT NULL,
  rc_last_oldid int NOT NULL,
  rc_old_len int NOT NULL,
  rc_new_len int NOT NULL
);
CREATE TABLE logging (
  log_id int AUTO_INCREMENT PRIMARY KEY,
  log_type varchar(32) NOT NULL,
  log_action varchar(32) NOT NULL,
  log_timestamp varchar(14) NOT NULL,
  log_user int NOT NULL,
  log_namespace int NOT NULL,
  log_title varchar(255) NOT NULL,
  log_page int NOT NULL
);
CREATE TABLE watchlist (
  wl_user int NOT NULL,
  wl_namespace int NOT NULL,
  wl_title varchar(255) NOT NULL,
  wl_notificationtimestamp varchar(14),
  PRIMARY KEY (wl_user, wl_namespace, wl_title),
  FOREIGN KEY (wl_user) REFERENCES useracct (user_id)
);
