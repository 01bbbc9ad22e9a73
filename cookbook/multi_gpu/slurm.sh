#!/bin/bash
# Several nodes: the last one generates with vLLM, the others train. Submit it from this folder: `sbatch slurm.sh`.
#SBATCH --job-name=rewardkit
#SBATCH --nodes=3
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=8
#SBATCH --cpus-per-task=64
#SBATCH --time=12:00:00
#SBATCH --output=slurm-%j.log
set -euo pipefail
cd "$SLURM_SUBMIT_DIR"

MODEL=Qwen/Qwen2.5-7B-Instruct # as in run.yaml
CONTEXT=1024                   # the longest prompt and completion together
GPUS=8                         # of each node that trains
SHARDING=zero3.yaml

mapfile -t nodes < <(scontrol show hostnames "$SLURM_JOB_NODELIST")
trainers=$((SLURM_NNODES - 1))
processes=$((GPUS * trainers))
server=${nodes[-1]}
training=$(IFS=,; echo "${nodes[*]:0:trainers}")

# The configuration of this job; it is checked before anything is started.
rewardkit train run.yaml --print-config \
    --set "processes=$processes" \
    --set "vllm={mode: server, host: $server, port: 8000, server_timeout: 900}" > job.yaml
rewardkit train job.yaml --preflight only

# Tensor parallelism divides the attention heads: 28 of them, so 4 GPUs. TRL sends new weights over NCCL.
srun --nodes=1 --ntasks=1 --nodelist="$server" --export=ALL,VLLM_SERVER_DEV_MODE=1 \
    vllm serve "$MODEL" --host 0.0.0.0 --port 8000 --tensor-parallel-size 4 --max-model-len "$CONTEXT" \
    --weight-transfer-config '{"backend": "nccl"}' --logprobs-mode processed_logprobs --max-logprobs -1 &
trap 'kill %1' EXIT

# One launcher on each node that trains; SLURM_PROCID is the node's number among them. --resume goes on where a job
# before this one was cut off, and begins where there was none.
export SHARDING processes trainers head=${nodes[0]}
srun --nodes="$trainers" --ntasks="$trainers" --nodelist="$training" bash -c '
    accelerate launch --config_file "$SHARDING" \
        --num_machines "$trainers" --num_processes "$processes" --machine_rank "$SLURM_PROCID" \
        --main_process_ip "$head" --main_process_port 29500 \
        -m rewardkit.cli.main train job.yaml --resume'
