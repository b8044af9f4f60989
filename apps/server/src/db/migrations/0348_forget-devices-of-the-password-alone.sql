-- A password made its device a known one before its code was right. Devices of people with a second factor count as new again.
delete from sign_in.device
where "userId" in (select id from sign_in."user" where "twoFactorEnabled");
