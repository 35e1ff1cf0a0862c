"""What is sent: files of THINWIRE_DATA, and the lossless codecs that they are sent by."""

LOSSLESS = ("expack", "lorenzo", "mpc", "ndzip")
SHRINKS = "ccsm_trefht.f32"
FIELDS = (SHRINKS, "nyx_32.f32", "plot3d_cfd.f32", "ncep_cam_3d.f32", "rtm_t150.f32")
