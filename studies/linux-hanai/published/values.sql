with runs_long as (unpivot (select delay, tcp, queue, total_mbps, rtt_mean_s, jain, queue_mean_pkts, drops, retransmissions
  from runs where backend like 'linux:%') on total_mbps, rtt_mean_s, jain, queue_mean_pkts, drops, retransmissions
  into name metric value value),
controls as (select delay, algorithm as tcp, queue, 'avg_mbps' as metric, avg(bytes_delivered * 8e-6 / window_s) as value
  from flows join (select key, window_s from runs where backend like 'linux:%') using (key) group by all),
told as (
  select 1 as "table", * from controls
  union all
  select case metric when 'total_mbps' then 2 when 'rtt_mean_s' then 3 when 'jain' then 4 when 'queue_mean_pkts' then 5
    when 'drops' then 6 else 7 end, delay, tcp, queue, metric, value from runs_long)
select "table", delay, tcp, queue, metric, printf('%.6g', value) as value from told where value is not null
order by "table", cast(split_part(delay, ' ', 1) as int), tcp, queue
