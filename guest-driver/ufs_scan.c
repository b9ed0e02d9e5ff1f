// SPDX-License-Identifier: GPL-2.0-only
/*
 * UFS transport, asking the device: is it there, what units has it, how large
 * are they.
 *
 * UFS 3.1 sections 10.7.11 (NOP), 10.7.8 (query requests), 14.1 (descriptors);
 * SBC-3 READ CAPACITY.  Polled requests in one slot, see ufs_init.c.
 */
#include <linux/delay.h>

#include "ufs.h"

#define IRQBED_NOP_TRIES	10
#define IRQBED_INIT_TRIES	1000
#define IRQBED_INIT_WAIT_US	500
#define IRQBED_READY_TRIES	10
#define IRQBED_CAPACITY_BYTES	32

static struct utp_upiu_req *irqbed_ufs_new_req(struct irqbed_ctrl *ctrl,
					       u8 code)
{
	struct utp_upiu_req *req = irqbed_ufs_req(irqbed_ufs(ctrl), 0);

	memset(req, 0, ALIGNED_UPIU_SIZE);
	req->header.transaction_code = code;
	return req;
}

static struct utp_upiu_rsp *irqbed_ufs_admin_rsp(struct irqbed_ctrl *ctrl)
{
	return irqbed_ufs_rsp(irqbed_ufs(ctrl), 0);
}

static int irqbed_ufs_nop(struct irqbed_ctrl *ctrl)
{
	int err;

	irqbed_ufs_new_req(ctrl, UPIU_TRANSACTION_NOP_OUT);
	err = irqbed_ufs_exec(ctrl, UTP_NO_DATA_TRANSFER, 0);
	if (err)
		return err;
	if (irqbed_ufs_admin_rsp(ctrl)->header.transaction_code !=
	    UPIU_TRANSACTION_NOP_IN)
		return -EPROTO;
	return 0;
}

static int irqbed_ufs_query(struct irqbed_ctrl *ctrl, u8 function, u8 opcode,
			    u8 idn, u8 index, u16 length)
{
	struct utp_upiu_req *req;
	struct utp_upiu_rsp *rsp;
	int err;

	req = irqbed_ufs_new_req(ctrl, UPIU_TRANSACTION_QUERY_REQ);
	req->header.query_function = function;
	req->qr.opcode = opcode;
	req->qr.idn = idn;
	req->qr.index = index;
	req->qr.length = cpu_to_be16(length);
	err = irqbed_ufs_exec(ctrl, UTP_NO_DATA_TRANSFER, 0);
	if (err)
		return err;
	rsp = irqbed_ufs_admin_rsp(ctrl);
	if (rsp->header.transaction_code != UPIU_TRANSACTION_QUERY_RSP)
		return -EPROTO;
	return rsp->header.response == QUERY_RESULT_SUCCESS ? 0 : -EINVAL;
}

/* The data of a descriptor follows the response UPIU's 32 bytes. */
static int irqbed_ufs_descriptor(struct irqbed_ctrl *ctrl, u8 idn, u8 index,
				 u32 least, u8 *data)
{
	struct utp_upiu_rsp *rsp = irqbed_ufs_admin_rsp(ctrl);
	u32 length;
	int err;

	err = irqbed_ufs_query(ctrl, UPIU_QUERY_FUNC_STANDARD_READ_REQUEST,
			       UPIU_QUERY_OPCODE_READ_DESC, idn, index,
			       QUERY_DESC_MAX_SIZE);
	if (err)
		return err;
	length = be16_to_cpu(rsp->header.data_segment_length);
	if (length < least || length > QUERY_DESC_MAX_SIZE)
		return -EPROTO;
	memcpy(data, (u8 *)rsp + GENERAL_UPIU_REQUEST_SIZE, length);
	return 0;
}

static int irqbed_ufs_init_flag(struct irqbed_ctrl *ctrl)
{
	int err;

	err = irqbed_ufs_query(ctrl, UPIU_QUERY_FUNC_STANDARD_WRITE_REQUEST,
			       UPIU_QUERY_OPCODE_SET_FLAG,
			       QUERY_FLAG_IDN_FDEVICEINIT, 0, 0);
	for (int i = 0; !err && i < IRQBED_INIT_TRIES; i++) {
		err = irqbed_ufs_query(ctrl,
				       UPIU_QUERY_FUNC_STANDARD_READ_REQUEST,
				       UPIU_QUERY_OPCODE_READ_FLAG,
				       QUERY_FLAG_IDN_FDEVICEINIT, 0, 0);
		if (!err && !be32_to_cpu(irqbed_ufs_admin_rsp(ctrl)->qr.value))
			return 0;
		usleep_range(IRQBED_INIT_WAIT_US, 2 * IRQBED_INIT_WAIT_US);
	}
	return err ? err : -ETIMEDOUT;
}

/* A SCSI command with @bytes of data to the admin buffer: SCSI status. */
static int irqbed_ufs_scsi(struct irqbed_ctrl *ctrl, u8 lun, const u8 *cdb,
			   u32 bytes)
{
	struct utp_upiu_req *req;
	struct utp_upiu_rsp *rsp;
	int err;

	req = irqbed_ufs_new_req(ctrl, UPIU_TRANSACTION_COMMAND);
	req->header.lun = lun;
	req->header.flags = bytes ? UPIU_CMD_FLAGS_READ : UPIU_CMD_FLAGS_NONE;
	req->sc.exp_data_transfer_len = cpu_to_be32(bytes);
	memcpy(req->sc.cdb, cdb, sizeof(req->sc.cdb));
	err = irqbed_ufs_exec(ctrl, bytes ? UTP_DEVICE_TO_HOST :
			      UTP_NO_DATA_TRANSFER, bytes);
	if (err)
		return err;
	rsp = irqbed_ufs_admin_rsp(ctrl);
	if (rsp->header.transaction_code != UPIU_TRANSACTION_RESPONSE)
		return -EPROTO;
	return rsp->header.status;
}

/*
 * After power-on or a reset a unit answers its first command with UNIT
 * ATTENTION; take that here, so that no request of a user meets it.
 */
static int irqbed_ufs_unit_ready(struct irqbed_ctrl *ctrl, u8 lun)
{
	static const u8 cdb[UFS_CDB_SIZE] = { TEST_UNIT_READY };
	int status = -EIO;

	for (int i = 0; i < IRQBED_READY_TRIES; i++) {
		status = irqbed_ufs_scsi(ctrl, lun, cdb, 0);
		if (status <= 0)
			return status;
	}
	dev_err(&ctrl->pdev->dev, "unit %u is not ready: status 0x%x, sense key 0x%x\n",
		lun, status, irqbed_ufs_sense_key(irqbed_ufs_admin_rsp(ctrl)));
	return -EBUSY;
}

/**
 * irqbed_ufs_device_init() - wake the device behind the link
 * @ctrl: the controller, its lists running
 *
 * Return: 0 or -errno.
 */
int irqbed_ufs_device_init(struct irqbed_ctrl *ctrl)
{
	struct irqbed_disk *disk = NULL;
	int err = -EIO;

	for (int i = 0; err && err != -ENODEV && i < IRQBED_NOP_TRIES; i++)
		err = irqbed_ufs_nop(ctrl);
	if (err) {
		dev_err(&ctrl->pdev->dev, "no answer to NOP: %d\n", err);
		return err;
	}
	err = irqbed_ufs_init_flag(ctrl);
	if (err) {
		dev_err(&ctrl->pdev->dev, "device does not initialize: %d\n",
			err);
		return err;
	}
	/* After a reset the units are known already. */
	while ((disk = irqbed_next_disk(ctrl, disk))) {
		err = irqbed_ufs_unit_ready(ctrl, disk->lun);
		if (err)
			return err;
	}
	return 0;
}

static int irqbed_ufs_capacity(struct irqbed_ctrl *ctrl,
			       struct irqbed_disk *disk)
{
	static const u8 cdb[UFS_CDB_SIZE] = {
		[0] = SERVICE_ACTION_IN_16,
		[1] = SAI_READ_CAPACITY_16,
		[13] = IRQBED_CAPACITY_BYTES,
	};
	const u8 *data = irqbed_ufs(ctrl)->admin;
	u32 block_size;
	int err;

	err = irqbed_ufs_scsi(ctrl, disk->lun, cdb, IRQBED_CAPACITY_BYTES);
	if (err)
		return err < 0 ? err : -EIO;
	disk->blocks = get_unaligned_be64(&data[0]) + 1;
	block_size = get_unaligned_be32(&data[8]);
	if (data[14] & BIT(7))	/* LBPME */
		disk->discard_sectors = UINT_MAX >> SECTOR_SHIFT;
	if (!disk->blocks || !is_power_of_2(block_size) ||
	    block_size < SECTOR_SIZE || block_size > PAGE_SIZE) {
		dev_err(&ctrl->pdev->dev, "unit %u: %llu blocks of %u bytes, cannot use that\n",
			disk->lun, disk->blocks, block_size);
		return -EINVAL;
	}
	disk->block_shift = ilog2(block_size);
	return 0;
}

static int irqbed_ufs_scan_unit(struct irqbed_ctrl *ctrl, u8 lun)
{
	struct irqbed_disk disk = { .lun = lun };
	int err;

	err = irqbed_ufs_unit_ready(ctrl, lun);
	if (!err)
		err = irqbed_ufs_capacity(ctrl, &disk);
	if (!err)
		err = irqbed_disk_add(ctrl, &disk);
	return err;
}

/**
 * irqbed_ufs_scan() - find the device's data units and make disks of them
 * @ctrl: the controller, started
 *
 * Return: 0 or -errno.
 */
int irqbed_ufs_scan(struct irqbed_ctrl *ctrl)
{
	u8 desc[QUERY_DESC_MAX_SIZE];
	int err;
	u8 units;

	err = irqbed_ufs_descriptor(ctrl, QUERY_DESC_IDN_DEVICE, 0,
				    DEVICE_DESC_PARAM_NUM_LU + 1, desc);
	if (err) {
		dev_err(&ctrl->pdev->dev, "no device descriptor: %d\n", err);
		return err;
	}
	units = desc[DEVICE_DESC_PARAM_NUM_LU];
	for (u8 lun = 0; lun < IRQBED_MAX_LUNS && ctrl->nr_disks < units; lun++) {
		err = irqbed_ufs_descriptor(ctrl, QUERY_DESC_IDN_UNIT, lun,
					    UNIT_DESC_PARAM_LU_ENABLE + 1, desc);
		if (err == -EINVAL)	/* no such unit */
			continue;
		if (err)
			return err;
		if (!desc[UNIT_DESC_PARAM_LU_ENABLE])
			continue;
		err = irqbed_ufs_scan_unit(ctrl, lun);
		if (err) {
			dev_err(&ctrl->pdev->dev, "unit %u: %d\n", lun, err);
			return err;
		}
	}
	if (ctrl->nr_disks < units)
		dev_warn(&ctrl->pdev->dev, "%u units announced, %u found\n",
			 units, ctrl->nr_disks);
	return 0;
}
