# What the article pipes `bpftool -j map dump` into, as it stands there.
import json,sys
keys=["lookups","hits_no_policy","hits_allow","hits_deny","misses_walk","fills"]
tot={k:0 for k in keys}
for e in json.load(sys.stdin):
    for cpu in e["values"]:
        b=bytes(int(x,16) for x in cpu["value"])
        for k,n in zip(keys,[int.from_bytes(b[i:i+8],"little") for i in range(8,56,8)]):
            tot[k]+=n
print(json.dumps(tot, indent=2))
lookups=tot["lookups"]
hits=tot["hits_no_policy"]+tot["hits_allow"]+tot["hits_deny"]
print("hit_rate", round(hits/lookups, 4) if lookups else None)
